/**
 * Every spelling of a host that webhooks must not call, and the same spellings of allowed hosts: only the address
 * decides.
 */
import { expect, test } from 'vitest'
import { forbiddenHost } from '../../src/webhooks/forbidden-hosts.ts'

type Octets = readonly [number, number, number, number]

const octetsOf = (text: string) => text.split('.').map(Number) as unknown as Octets
const octal = (octet: number): string => `0${octet.toString(8)}`
const hex = (value: number, digits = 1): string => value.toString(16).padStart(digits, '0')
const whole = (octets: Octets): number => octets.reduce((sum, octet) => sum * 256 + octet, 0)
const pairs = ([a, b, c, d]: Octets): string => `${hex(a * 256 + b)}:${hex(c * 256 + d)}`

/** Spellings of an IPv4 address in a URL (WHATWG URL, IPv4 parser), and IPv6 addresses that lead to it. */
const spellings: Readonly<Record<string, (octets: Octets) => string>> = {
  plain: (octets) => octets.join('.'),
  'with a dot at its end': (octets) => `${octets.join('.')}.`,
  'with two dots at its end': (octets) => `${octets.join('.')}..`,
  'as one number': (octets) => String(whole(octets)),
  'as one hexadecimal number': (octets) => `0x${hex(whole(octets), 8)}`,
  'as one hexadecimal number in capitals': (octets) => `0X${hex(whole(octets), 8).toUpperCase()}`,
  'as one octal number': (octets) => `0${whole(octets).toString(8)}`,
  'in octal parts': (octets) => octets.map(octal).join('.'),
  'in octal parts with zeros before them': (octets) => octets.map((one) => `000${octal(one)}`).join('.'),
  'in hexadecimal parts': (octets) => octets.map((one) => `0x${hex(one)}`).join('.'),
  'in parts of each kind': ([a, b, c, d]) => `0x${hex(a)}.${octal(b)}.${c}.0x${hex(d)}`,
  'in three parts': ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
  'in two parts': ([a, b, c, d]) => `${a}.${(b * 256 + c) * 256 + d}`,
  'with encoded digits': (octets) => octets.join('.').replace(/\d/g, (digit) => `%3${digit}`),
  'with encoded dots': (octets) => octets.join('%2e'),
  'with ideographic dots': (octets) => octets.join('\u3002'),
  'in wide digits': (octets) => octets.join('.').replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
  'behind a user': (octets) => `hook.example.com@${octets.join('.')}`,
  'behind a user and password': (octets) => `hook.example.com:443@${octets.join('.')}`,
  'with a port': (octets) => `${octets.join('.')}:8443`,
  mapped: (octets) => `[::ffff:${octets.join('.')}]`,
  'mapped, in hexadecimal': (octets) => `[::ffff:${pairs(octets)}]`,
  'mapped, in full': (octets) => `[0000:0000:0000:0000:0000:FFFF:${pairs(octets)}]`,
}
/** IPv6 addresses that a translator maps to IPv4. All of them are forbidden. */
const translated: Readonly<Record<string, (octets: Octets) => string>> = {
  compatible: (octets) => `[::${pairs(octets)}]`,
  'translated (SIIT)': (octets) => `[::ffff:0:${pairs(octets)}]`,
  'translated (NAT64)': (octets) => `[64:ff9b::${octets.join('.')}]`,
  'translated (local NAT64)': (octets) => `[64:ff9b:1:2::${pairs(octets)}]`,
  'tunnelled (6to4)': (octets) => `[2002:${pairs(octets)}::1]`,
  'tunnelled (Teredo)': (octets) => `[2001:0:${pairs(octets)}::1]`,
}

/** The host as the URL parser normalizes it; undefined if no URL can have it. */
const seen = (authority: string): string | undefined =>
  URL.canParse(`https://${authority}/`) ? new URL(`https://${authority}/`).hostname : undefined

const isCalled = (authority: string): boolean => {
  const host = seen(authority)
  return host !== undefined && forbiddenHost(host) === undefined
}

const never = [
  ...['127.0.0.1', '127.255.255.254', '127.8.16.32', '0.0.0.0', '0.1.2.3', '169.254.0.1', '169.254.169.254'],
  ...['169.254.170.2', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
]
const others = [
  '1.1.1.1',
  '8.8.8.8',
  '100.100.100.201',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '203.0.113.7',
]

test.each(Object.entries(spellings))('an address %s', (_, spelled) => {
  for (const address of never) expect([address, isCalled(spelled(octetsOf(address)))]).toEqual([address, false])
})

test.each(Object.entries(translated))('an address of IPv6, %s', (_, spelled) => {
  for (const address of [...never, ...others])
    expect([address, isCalled(spelled(octetsOf(address)))]).toEqual([address, false])
})

test('the same spellings of other addresses are called', () => {
  for (const [name, spelled] of Object.entries(spellings))
    for (const address of others)
      expect([name, address, isCalled(spelled(octetsOf(address)))]).toEqual([name, address, true])
})

test.each([
  ...['localhost', 'LOCALHOST', 'localhost.', 'localhost..', 'a.b.localhost', 'loc%61lhost', 'ｌｏｃａｌｈｏｓｔ'],
  ...['hook.example.com@localhost', 'localhost:443', 'metadata.google.internal', 'METADATA.google.internal.'],
  ...['instance-data.ec2.internal', '[::1]', '[0:0:0:0:0:0:0:1]', '[0::0:1]', '[::]', '[fe80::1]', '[FE80:0::1]'],
  ...['[febf:ffff::1]', '[fec0::1]', '[fd00:ec2::254]', '[fd00:0ec2:0::0254]', '[fe80::1%25eth0]'],
])('%s is not called', (authority) => expect(isCalled(authority)).toBe(false))

test.each([
  ...[
    'hook.example.com',
    'localhost.example.com',
    'notlocalhost',
    'internal.example.com',
    'localhost@hook.example.com',
  ],
  ...['127.0.0.1@hook.example.com', '127.0.0.1.example.com', '[2606:4700::1111]', '[fd00:ec2::255]', 'x.worker'],
])('%s is', (authority) => expect(isCalled(authority)).toBe(true))
