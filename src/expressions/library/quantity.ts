/** kube-apiserver's `quantity` library. */
import type { Library } from '../../cel/declarations.ts'
import { fixed, readingOf } from '../../cel/library/costs.ts'
import { fn, member, overload } from '../../cel/library/declare.ts'
import { BOOL, DOUBLE, INT, STRING, structNamed } from '../../cel/checker/type.ts'
import type { Value } from '../../cel/values/value.ts'
import { CelError, OpaqueValue } from '../../cel/values/value.ts'
import { Quantity, QuantityError } from '../../schema/quantity.ts'

const QUANTITY = structNamed('kubernetes.Quantity')

class QuantityValue extends OpaqueValue {
  readonly type = QUANTITY
  constructor(readonly amount: Quantity) {
    super()
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof QuantityValue && this.amount.equals(other.amount)
  }
}

export function quantityOf(text: string): Value {
  try {
    return new QuantityValue(Quantity.parse(text))
  } catch (error) {
    if (error instanceof QuantityError) return new CelError(error.message)
    throw error
  }
}

// the types of arguments are checked before an overload runs
const text = (value: Value | undefined): string => value as string
const amount = (value: Value | undefined): Quantity => (value as QuantityValue).amount
const whole = (value: Value | undefined): Quantity => Quantity.of(value as bigint, 'DecimalExponent')
const order = ([a, b]: readonly Value[]): number => Math.sign(amount(a).compare(amount(b)))

const sum = (name: 'add' | 'sub') =>
  fn(
    name,
    member(`quantity_${name}`, [QUANTITY, QUANTITY], QUANTITY, {
      ...fixed(1),
      run: ([a, b]) => new QuantityValue(amount(a)[name](amount(b))),
    }),
    member(`quantity_${name}_int`, [QUANTITY, INT], QUANTITY, {
      ...fixed(1),
      run: ([a, b]) => new QuantityValue(amount(a)[name](whole(b))),
    }),
  )

export const quantity: Library = {
  name: 'kubernetes.quantity',
  functions: [
    fn(
      'quantity',
      overload('string_to_quantity', [STRING], QUANTITY, {
        ...readingOf(0),
        run: ([string]) => quantityOf(text(string)),
      }),
    ),
    fn(
      'isQuantity',
      overload('is_quantity_string', [STRING], BOOL, {
        ...readingOf(0),
        run: ([string]) => Quantity.tryParse(text(string)) !== undefined,
      }),
    ),
    // kube-apiserver documents `sign` as a member function, but declares it as a global one
    fn('sign', overload('quantity_sign', [QUANTITY], INT, { ...fixed(1), run: ([a]) => BigInt(amount(a).sign) })),
    fn(
      'isGreaterThan',
      member('quantity_is_greater_than', [QUANTITY, QUANTITY], BOOL, { ...fixed(1), run: (args) => order(args) > 0 }),
    ),
    fn(
      'isLessThan',
      member('quantity_is_less_than', [QUANTITY, QUANTITY], BOOL, { ...fixed(1), run: (args) => order(args) < 0 }),
    ),
    fn(
      'compareTo',
      member('quantity_compare_to', [QUANTITY, QUANTITY], INT, { ...fixed(1), run: (args) => BigInt(order(args)) }),
    ),
    fn(
      'asApproximateFloat',
      member('quantity_get_float', [QUANTITY], DOUBLE, { ...fixed(1), run: ([a]) => amount(a).asApproximateFloat() }),
    ),
    fn(
      'asInteger',
      member('quantity_get_int', [QUANTITY], INT, {
        ...fixed(1),
        run: ([a]) => amount(a).asInt64() ?? new CelError('cannot convert value to integer'),
      }),
    ),
    fn(
      'isInteger',
      member('quantity_is_integer', [QUANTITY], BOOL, {
        ...fixed(1),
        run: ([a]) => amount(a).asInt64() !== undefined,
      }),
    ),
    sum('add'),
    sum('sub'),
  ],
}
