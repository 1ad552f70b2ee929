"""Release of the program, for the package and for all that names it.

The metadata of the installed package has it too, but would be slow to read.
"""

VERSION = "0.1.0"
