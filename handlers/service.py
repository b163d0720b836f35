"""The handlers of this service, listed once: read by infra, the command line and the tests."""

from handlers.billing import book_payment
from handlers.inventory import move_stock
from handlers.invoices import export_invoices
from handlers.orders import charge_order
from handlers.support import open_ticket
from surehand import Service

SHOP = Service("shop", (charge_order, move_stock, export_invoices, book_payment, open_ticket))
