"""The mathematics: integers and arrays in, arrays out, NumPy only.

Nothing here knows of files, documents or printing, and nothing here checks its
input: the public functions have done so.
"""
