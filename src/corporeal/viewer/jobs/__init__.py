"""What a tab has done in a process of its own, one file a job.

A job takes paths and choices, and answers with a packet. Other sizes than a few kilobytes go
through files of the tab's folder.
"""
