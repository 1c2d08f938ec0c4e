"""What a basket costs."""


class Item:
    def __init__(self, name, count):
        self.name = name
        self.count = count


def price_of(item, each):
    price = item.count * each
    return price


def main():
    basket = [Item("tea", 2), Item("scone", 1)]
    total = 0
    for at in range(2):
        item = basket[at]
        each = 250 + 70 * at
        price = price_of(item, each)
        total += price
        print(f"{item.name}: {price}")
    print(f"the basket costs {total}")


main()
