FACTORS = {("mile", "km"): 1.609344, ("kg", "lb"): 2.2046226}


def execute(parameters):
    factor = FACTORS[parameters["from"], parameters["to"]]
    return {"output": {"quantity": parameters["quantity"] * factor, "factor": factor}}
