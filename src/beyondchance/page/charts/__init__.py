"""Charts of a report: rows of results in, charts of Altair out.

Every chart says in its title what it shows, in its subtitle what it leaves out, and in its
description what there is to see, in a sentence. Names are values of the data and never
part of an expression; long ones are cut.
"""
