"""A tour in Python: temperatures of a few towns."""


def mean(values):
    total = sum(values)
    return total / len(values)  # stop: mean


def tour():
    towns = {"Cairo": [31.0, 35.5, 29.0], "Rome": [18.0, 22.5, 20.0]}
    visited = 0
    for name, celsius in towns.items():
        visited += 1
        print(f"{name}: {mean(celsius):.1f}")
    return visited


print(f"{tour()} towns visited")
raise SystemExit(3)
