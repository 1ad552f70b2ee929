print("Which of us is first?")
