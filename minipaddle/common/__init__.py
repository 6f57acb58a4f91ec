"""The ground floor: words that every other floor uses (dtypes, places, shapes, unique names). It
imports nothing of ours.
"""
