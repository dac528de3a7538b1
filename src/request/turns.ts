/**
 * How the work of a request shares the thread: a large request gives others their turn, a small one is done at once.
 */
import { inPartsAwaiting } from '../base/parts.ts'
import type { HeavyWork } from '../base/heavy-line.ts'
import type { Steps } from '../base/slices.ts'
import {
  BESIDE,
  HEAVY,
  heavyWork,
  inTurns,
  LARGE,
  MANY_VALUES,
  restOfTurn,
  soon,
  turnOfHeavy,
  turnOfOthers,
} from '../base/slices.ts'
import { hasMoreValues } from '../json/many-values.ts'
import type { ApiCall } from './context.ts'
import { lengthOfLongStrings } from './long-texts.ts'
import { countedAs } from './user-info.ts'

type Sized = { readonly isLarge?: ApiCall['isLarge'] | undefined } & Partial<Turning>

/** A call that has heavy steps. */
type Turning = Pick<ApiCall, 'tenant' | 'user' | 'heavyWork'>

/** Resolves when it is the turn of a heavy step of the call (turnOfHeavy). */
export const turnOf = (call: Partial<Turning>, share?: number): Promise<void> =>
  turnOfHeavy(turnOfOthers, workOf(call), share)

/** @returns the items that are left of the turn */
async function restOfTurnOf(call: Partial<Turning>, share?: number): Promise<number> {
  await turnOf(call, share)
  return restOfTurn()
}

function workOf(call: Partial<Turning>): HeavyWork | undefined {
  if (call.tenant === undefined || call.user === undefined) return undefined
  return (call.heavyWork ??= heavyWork(`${call.tenant.uid}\n${countedAs(call.user)}`))
}

/** Groups whose objects hold expressions in CEL. */
const EXPRESSION_GROUPS: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'resource.k8s.io',
])

/**
 * Whether a request takes turns. Compiling an expression of 60 KB takes a tenth of a second, so long strings count more
 * where they may be expressions. A definition of 20 KB without them takes no turns: a thousand would wait for each other.
 * @param text a body, or the stored object that a call changes @param length the characters that its work is worth
 */
export const isLargeIn = (group: string, text: string | Uint8Array, length = text.length): boolean =>
  length > LARGE || (length > HEAVY && EXPRESSION_GROUPS.has(group) && lengthOfLongStrings(text) > HEAVY)

/** Of a few characters each, as of empty maps, many values take the time of a large text. */
export function noteManyValues(request: Pick<ApiCall, 'isLarge'>, object: object): void {
  if (request.isLarge !== true && hasMoreValues(object, MANY_VALUES)) request.isLarge = true
}

/** The request may become a large one while it waits for an answer. */
export const finished = <T>(request: Sized, steps: Steps<T>): T | Promise<T> =>
  request.isLarge
    ? inTurns(steps, (share) => restOfTurnOf(request, share))
    : soon(steps, (rest) => finished(request, rest))

/**
 * Takes room for a value that comes up beside the body and the stored object.
 * @param size UTF-16 units of its text, or bytes
 * @throws StatusError 429
 */
export async function takeRoomBeside(request: Pick<ApiCall, 'isLarge' | 'takeRoom'>, size: number): Promise<void> {
  if (size > LARGE) request.isLarge = true
  if (size > HEAVY) await request.takeRoom?.('others', size)
}

/** Runs a walk over objects of the request (base/parts.ts). */
export const walked = <T>(request: Sized, run: () => T | Promise<T>): T | Promise<T> =>
  request.isLarge ? inPartsAwaiting(run, () => restOfTurnOf(request, BESIDE)) : run()
