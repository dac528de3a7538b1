import { describe, expect, test } from 'vitest'
import fc from '../chance.ts'
import { Quantity, QuantityError } from '../../src/schema/quantity.ts'

describe('the text of a quantity', () => {
  test.each([
    ['0', '0'],
    ['-0', '0'],
    ['1', '1'],
    ['+1', '+1'], // the original spelling is kept
    ['010', '010'],
    ['1.500', '1.500'],
    ['1.5', '1500m'],
    ['0.5', '500m'],
    ['.5', '500m'],
    ['3.0', '3'],
    ['3.5', '3500m'],
    ['1000m', '1'],
    ['100m', '100m'],
    ['1e2', '100'],
    ['1E2', '100'],
    ['30e-1', '3'],
    ['1e3', '1e3'],
    ['10e2', '1e3'],
    ['1024Mi', '1Gi'],
    ['1Ki', '1Ki'],
    ['1025Ki', '1025Ki'],
    ['2048', '2048'],
    ['0.5Gi', '512Mi'],
    ['1.5Ki', '1536'],
    ['0.5Ki', '512'],
    ['0.1Ki', '102400m'],
    ['100k', '100k'],
    ['1000k', '1M'],
    ['1u', '1u'],
    ['1n', '1n'],
    ['0.1n', '1n'],
    ['-0.1n', '-1n'],
    ['1.0000000001', '1000000001n'],
    ['9223372036854775807', '9223372036854775807'],
    ['92233720368547758070', '92233720368547758070'],
    ['8Ei', '9223372036854775807'],
    ['-8Ei', '-9223372036854775807'],
    ['1E', '1E'],
    ['.', '0'],
    ['1.', '1.'],
    ['e5', '0'],
  ])('%s is written %s', (text, canonical) => {
    expect(Quantity.parse(text).toString()).toBe(canonical)
  })

  test.each([
    ['', 'quantities must match the regular expression'],
    ['true', 'quantities must match the regular expression'],
    ['1.2.3', 'quantities must match the regular expression'],
    ['1 Gi', 'quantities must match the regular expression'],
    ['1Gb', 'quantities must match the regular expression'],
    ['abc', 'quantities must match the regular expression'],
    ['1K', "unable to parse quantity's suffix"],
    ['1Kii', "unable to parse quantity's suffix"],
    ['1m1', "unable to parse quantity's suffix"],
    ['1e', "unable to parse quantity's suffix"],
  ])('%j is refused', (text, message) => {
    expect(() => Quantity.parse(text)).toThrow(expect.objectContaining({ message: expect.stringContaining(message) }))
    expect(Quantity.tryParse(text)).toBeUndefined()
  })
})

describe('arithmetic', () => {
  const q = (text: string) => Quantity.parse(text)

  test('compares by value', () => {
    expect(q('1024Mi').equals(q('1Gi'))).toBe(true)
    expect(q('1').compare(q('1000m'))).toBe(0)
    expect(q('999m').compare(q('1'))).toBeLessThan(0)
    expect(q('-2').compare(q('-1'))).toBeLessThan(0)
    expect(q('1e4000').compare(q('1e3999'))).toBeGreaterThan(0)
    expect(q('0').compare(q('-1n'))).toBeGreaterThan(0)
  })

  test.each([
    ['1', '500m', '1500m', '500m'],
    ['1Gi', '512Mi', '1536Mi', '512Mi'],
    ['0', '1Gi', '1Gi', '-1Gi'],
    ['1Gi', '1G', '2073741824', '73741824'],
  ])('%s and %s', (a, b, sum, difference) => {
    expect(q(a).add(q(b)).toString()).toBe(sum)
    expect(q(a).sub(q(b)).toString()).toBe(difference)
  })

  test('rounds away from zero', () => {
    expect(q('1001m').value()).toBe(2)
    expect(q('-1001m').value()).toBe(-2)
    expect(q('1.0001').milliValue()).toBe(1001)
    expect(q('1.0001').roundUp(-3).toString()).toBe('1001m')
    expect(q('100m').isMultipleOf(0)).toBe(false)
  })
})

test.each<[string, boolean]>([
  ['1', true],
  ['1.5', false],
  ['1m', false],
  ['1Ki', true],
  ['1.5Ki', true],
  ['1Pi', true],
  ['16Pi', false],
  ['1Ei', false],
  ['-1Ei', false],
  ['8Ei', true],
  ['1000Ei', true],
  ['1E', true],
  ['9223372036854775807', true],
  ['12345678901234567890', false],
  ['1000000000000000000', false],
  ['99999999999999999', false],
  ['99999999999999999k', false],
  ['1e21', true],
  ['1e100', true],
  ['1e-100', false],
])('%s is whole by an int64 of thousandths: %s', (text, whole) => {
  expect(Quantity.parse(text).isWholeByMilliValue).toBe(whole)
})

test('a written quantity is read again as the same', () => {
  const suffixes = ['', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'E-2', 'e10']
  fc.assert(
    fc.property(fc.integer(), fc.nat(99999), fc.constantFrom(...suffixes), (whole, fraction, suffix) => {
      const quantity = Quantity.parse(`${whole}.${fraction}${suffix}`)
      const again = Quantity.parse(quantity.toString())
      expect(again.equals(quantity)).toBe(true)
      expect(again.toString()).toBe(quantity.toString())
    }),
  )
})

test('any text is a quantity or a QuantityError', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[-+.0-9eEinumkKMGTP]{0,12}$/), (text) => {
      try {
        Quantity.parse(text).toString()
      } catch (error) {
        expect(error).toBeInstanceOf(QuantityError)
      }
    }),
  )
})
