import { describe, expect, test } from 'vitest'
import fc from '../chance.ts'
import { path } from '../../src/api/field.ts'
import {
  cidrErrors,
  cidrWarnings,
  contains,
  endpointIpErrors,
  ipErrors,
  ipText,
  ipWarnings,
  legacyCidrErrors,
  legacyIpErrors,
  parseCidr,
  parseIp,
} from '../../src/api/ip-addresses.ts'

const at = path('x')
const texts = (errors: readonly { message: string }[]) => errors.map(({ message }) => message)

describe('addresses', () => {
  test.each([
    ['10.0.0.1', []],
    ['FD00::1', []],
    ['10.0.0.256', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['1:2:3', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['::1::', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['010.0.0.1', ['must not have leading 0s']],
    ['::ffff:1.2.3.4', ['must not be an IPv4-mapped IPv6 address']],
  ])('%s as old fields take it', (text, problems) => {
    expect(texts(legacyIpErrors(at, text))).toEqual(problems.map((problem) => `Invalid value: "${text}": ${problem}`))
    expect(legacyIpErrors(at, text, new Set([text]))).toEqual([])
  })

  test('new fields take the canonical spelling only', () => {
    expect(ipErrors(at, 'fd00::1')).toEqual([])
    expect(texts(ipErrors(at, 'FD00:0::1'))).toEqual([
      'Invalid value: "FD00:0::1": must be in canonical form ("fd00::1")',
    ])
  })

  test.each([
    ['0:0:0:0:0:0:0:0', '::'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['::1.2.3.4', '::102:304'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
  ])('%s is %s', (text, canonical) => expect(ipText(parseIp(text)!)).toBe(canonical))

  test('every address is read back from its canonical text', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, (1n << 128n) - 1n), (bits) => {
        const text = ipText({ family: 'IPv6', bits })
        const parsed = parseIp(text)
        expect(parsed?.bits).toBe(bits >> 32n === 0xffffn ? bits & 0xffffffffn : bits)
      }),
    )
  })

  test('warnings of spellings', () => {
    expect(ipWarnings(at, '010.1.1.1')).toEqual(['x: non-standard IP address "010.1.1.1" is invalid: use "10.1.1.1"'])
    expect(ipWarnings(at, '2001:DB8::5')).toEqual([
      'x: IPv6 address "2001:DB8::5" should be in RFC 5952 canonical format ("2001:db8::5")',
    ])
    expect(ipWarnings(at, '10.1.1.1')).toEqual([])
  })

  test.each([
    ['0.0.0.0', 'may not be unspecified (0.0.0.0)'],
    ['127.0.0.1', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ['fe80::1', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
    ['224.0.0.5', 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
  ])('%s is nobody’s endpoint', (text, problem) =>
    expect(texts(endpointIpErrors(text, at))).toEqual([`Invalid value: "${text}": ${problem}`]),
  )
})

describe('ranges', () => {
  test.each([
    ['10.0.0.0/8', []],
    ['10.0.0.1/8', ['must not have bits set beyond the prefix length']],
    ['10.0.0.0/08', ['must not have leading 0s in IP or prefix length']],
    ['10.0.0.0/33', ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
    ['::ffff:10.0.0.0/104', ['must not have an IPv4-mapped IPv6 address']],
  ])('%s', (text, problems) =>
    expect(texts(legacyCidrErrors(at, text))).toEqual(
      problems.map((problem) => `Invalid value: "${text}": ${problem}`),
    ),
  )

  test('the canonical spelling', () =>
    expect(texts(cidrErrors(at, 'FD00::/64'))).toEqual([
      'Invalid value: "FD00::/64": must be in canonical form ("fd00::/64")',
    ]))

  test('one with bits behind the prefix may mean two things', () =>
    expect(cidrWarnings(at, '10.0.0.1/8')).toEqual([
      'x: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
    ]))

  test('what lies in a range', () => {
    const range = parseCidr('10.96.0.0/16')!
    expect(contains(range, parseIp('10.96.255.255')!)).toBe(true)
    expect(contains(range, parseIp('10.97.0.0')!)).toBe(false)
    expect(contains(range, parseIp('::a60:1')!)).toBe(false)
  })
})
