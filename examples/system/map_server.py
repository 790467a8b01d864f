"""Offers a service, a while after the other nodes, and takes a random time to answer."""
import random
import time

import rclpy
from rclpy.node import Node
from std_srvs.srv import Trigger


class MapServer(Node):
    def __init__(self):
        super().__init__('map_server')
        time.sleep(0.7)
        self.create_service(Trigger, 'map', self.answer)

    def answer(self, request, response):
        time.sleep(0.02 * random.random())
        response.success, response.message = True, str(random.randrange(1000))
        return response


rclpy.init()
rclpy.spin(MapServer())
