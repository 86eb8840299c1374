"""Charts of a report: rows of results in, drawings out.

Every chart says in its title what it shows, in its notes what it leaves out, and in its
description what there is to see, in a sentence. Long names are cut; the pointer shows them.
"""
