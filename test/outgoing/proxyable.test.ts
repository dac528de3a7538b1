import { expect, test } from 'vitest'
import { isProxyableAddress } from '../../src/outgoing/proxyable.ts'

test.each(['10.0.0.1', '192.168.1.1', '8.8.8.8', '2001:db8::1', 'fd00::1'])('%s is', (address) =>
  expect(isProxyableAddress(address)).toBe(true),
)

test.each([
  ...['127.0.0.1', '127.1.2.3', '0.0.0.0', '169.254.169.254', '224.0.0.1', '255.255.255.255'],
  ...['::1', '::', 'fe80::1', 'ff02::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8'],
  ...['010.0.0.1', '0177.0.0.1', '127.1', '2130706433', 'localhost', '', '10.0.0.1:80', '10.0.0.1@x'],
])('%s is not', (address) => expect(isProxyableAddress(address)).toBe(false))
