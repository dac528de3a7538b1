import { describe, expect, it } from 'vitest'
import { goFloat } from '../../src/go/float.ts'
import { goValue } from '../../src/go/value.ts'

/** What go1.26 prints for `fmt.Sprintf("%v", value)`, which is the same as `%g`. */
const printed: readonly (readonly [value: number, text: string])[] = [
  [0, '0'],
  [-0, '-0'],
  [1, '1'],
  [0.1, '0.1'],
  [100000, '100000'],
  [999999, '999999'],
  [999999.5, '999999.5'],
  [1e6, '1e+06'],
  [1000000.5, '1.0000005e+06'],
  [-1234567.5, '-1.2345675e+06'],
  [1e15, '1e+15'],
  [123456789012345680, '1.2345678901234568e+17'],
  [999999999999999900000, '9.999999999999999e+20'],
  [1e21, '1e+21'],
  [1.5e21, '1.5e+21'],
  [0.0001, '0.0001'],
  [0.00011, '0.00011'],
  [0.00009999, '9.999e-05'],
  [1.5e-7, '1.5e-07'],
  [5e-324, '5e-324'],
  [1.7976931348623157e308, '1.7976931348623157e+308'],
  [NaN, 'NaN'],
  [Infinity, '+Inf'],
  [-Infinity, '-Inf'],
]

describe('%v of a float64', () => {
  it.each(printed)('%d is %s', (value, text) => expect(goFloat(value)).toBe(text))
  it('is the same within a map', () => expect(goValue({ a: 1234567.5, b: 1.5 })).toBe('map[a:1.2345675e+06 b:1.5]'))
})
