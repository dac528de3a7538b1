/** A node after planning: a closure that evaluates it. */
import type { Attribute } from './attribute.ts'
import type { Frame } from './frame.ts'
import type { Value } from '../values/value.ts'

/** No program can be made of the expression, for example because a literal does not convert. */
export class ProgramError extends Error {}

/** Evaluates a node. A failure is an error value. */
export type Step = (frame: Frame) => Value

/** A planned node. */
export interface Planned {
  readonly evaluate: Step
  readonly attribute?: Attribute
  /** The value, if it is known when the program is planned. */
  readonly constant?: { readonly value: Value }
}

export const constant = (value: Value): Planned => ({ evaluate: () => value, constant: { value } })
export const attributed = (attribute: Attribute): Planned => ({ evaluate: attribute.evaluate, attribute })

export const isConstant = ({ constant: known }: Planned): boolean => known !== undefined
