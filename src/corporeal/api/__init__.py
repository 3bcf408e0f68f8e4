"""The verbs that `import corporeal` offers: one line of Python for each verb of the command line.

Nothing is computed here: each function gives names, types and units to one of `pipelines`, which
the command line and the studio call, too.
"""
