"""Orders and their prices: something to step through and look into."""


class Order:
    def __init__(self, customer, items, discount=None):
        self.customer = customer
        self.items = items
        self.discount = discount


def total(items, discount):
    cents = 0
    for _name, price in items:
        cents += price
    if discount is not None:
        cents -= cents * discount // 100
    return cents


def main():
    orders = [
        Order("Ada", [("tea", 250), ("scone", 320)], 10),
        Order("Grace", [("coffee", 290)]),
        Order("Linus", []),
    ]
    served = {}
    for order in orders:
        price = total(order.items, order.discount)
        served[order.customer] = price
        print(f"{order.customer}: {price}")
    print(len(served), "orders served")


main()
