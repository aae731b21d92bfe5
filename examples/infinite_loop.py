"""Never ends, and takes the whole processor.

    das run examples/infinite_loop.py --timeout 2
"""

print("here we go")
while True:
    pass
