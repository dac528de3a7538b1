/** The patches that a mutating policy makes (apiserver's plugin/policy/mutating/patch). */
import { append } from '../../base/append.ts'
import type { GroupVersionKind } from '../../api/group-version.ts'
import { apiVersionOf } from '../../api/group-version.ts'
import type { Json, JsonObject, KubeObject } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { kept } from '../../base/parts.ts'
import { itemsOf } from '../../cel/values/collections.ts'
import { durationText } from '../../cel/values/times.ts'
import type { Value } from '../../cel/values/value.ts'
import { Duration, ListValue, MapValue, Optional, Timestamp } from '../../cel/values/value.ts'
import { DecodeError } from '../../codec/decode/decode-problems.ts'
import type { JsonTree } from '../../json/json.ts'
import { RUNTIME_BUDGET } from '../../expressions/environments.ts'
import { JsonMaker, NoJson } from '../../expressions/made-json.ts'
import { MadeObject, misnamedTypes } from '../../expressions/mutation-types.ts'
import { copyOf } from '../../patch/json-document.ts'
import type { Operation } from '../../patch/json-patch.ts'
import { applyJsonPatch, PatchRejection } from '../../patch/json-patch-operations.ts'
import type { Patched } from '../../patch/json-patch-operations.ts'
import { asWritten, inNormalForm } from '../../patch/object-forms.ts'
import { merge } from '../../patch/merge.ts'
import { checkType, TypeMismatch } from '../../patch/type-problems.ts'
import type { ApiCall } from '../../request/context.ts'
import { takeRoomBeside, walked } from '../../request/turns.ts'
import type { Atom } from '../../schema/atom.ts'
import { atomOf } from '../../schema/atom.ts'
import { applyDefaults } from '../../schema/defaulting.ts'
import type { PatchedType } from '../made-object.ts'
import { convertsBetweenVersions, decodeMade } from '../made-object.ts'
import type { CompiledMutation, CompiledPolicy } from './compiled-policy.ts'
import type { Subject } from './evaluation.ts'
import { Evaluation, OutOfBudget } from './evaluation.ts'
import { seenBy } from './versioned-object.ts'

/** A mutation cannot be applied. The failure policy decides whether the request fails. */
export class MutationProblem extends Error {}

/**
 * @param object the object to change; expressions see it as Go writes it
 * @returns the mutated object, which may share parts with the given one
 * @throws MutationProblem
 * @throws StatusError where the result is no object of the kind
 */
export async function mutated(
  request: ApiCall,
  { patchType, expression }: CompiledMutation,
  { variables }: CompiledPolicy,
  subject: Subject,
  object: KubeObject,
  of: PatchedType,
): Promise<KubeObject> {
  if (expression.program === undefined) throw new MutationProblem(expression.problem)
  const value = await valueOf(
    new Evaluation({ ...subject, object: await seenBy(request, object) }, variables, RUNTIME_BUDGET),
    expression,
  )
  const patch = patchType === 'JSONPatch' ? jsonPatched : configured
  const patched = await patch(request, value, object, of)
  checkReturn(of)
  return patched
}

/**
 * kube-apiserver converts Go structs only from and to the storage version. It fails where two other versions would be
 * converted.
 */
function checkReturn({ type, kind, requestKind }: PatchedType): void {
  if (convertsBetweenVersions(type) || apiVersionOf(kind) === apiVersionOf(requestKind)) return
  const name = (of: GroupVersionKind): string => `(${of.version}.${of.kind})`
  throw new MutationProblem(`converting ${name(kind)} to ${name(requestKind)}: unknown conversion`)
}

async function valueOf(evaluation: Evaluation, expression: CompiledMutation['expression']): Promise<Value> {
  try {
    const evaluated = await evaluation.run(expression)
    if (evaluated.error === undefined) return evaluated.value
    throw new MutationProblem(evaluated.error)
  } catch (error) {
    throw error instanceof OutOfBudget ? new MutationProblem(error.message) : error
  }
}

/** Adds a prefix to any error in an expression's result. */
function attempt<Made>(what: string, make: () => Made): Made {
  try {
    return make()
  } catch (error) {
    if (error instanceof NoJson || error instanceof TypeMismatch || error instanceof DecodeError)
      throw new MutationProblem(`${what}: ${error.message}`)
    throw error
  }
}

function checkNames(value: Value, root: string): void {
  const misnamed = misnamedTypes(value, [root])
  if (misnamed.length > 0) throw new MutationProblem(`type mismatch: ${misnamed.join('\n')}`)
}

// an API object is JSON
const asJson = (object: KubeObject): JsonObject => object as unknown as JsonObject
// merging and decoding keep the metadata
const asObject = (object: JsonObject): KubeObject => object as unknown as KubeObject

/** ApplyConfiguration: merges the expression's result into the object. No manager becomes the owner of its fields. */
async function configured(request: ApiCall, value: Value, object: KubeObject, of: PatchedType): Promise<KubeObject> {
  const { type, kind, defaulting } = of
  const maker = new JsonMaker('number')
  const made = attempt('invalid return type', () => maker.of(value))
  await takeRoomBeside(request, maker.size)
  checkNames(value, 'Object')
  const configuration: JsonObject = {
    ...(isJsonObject(made) ? made : {}),
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
  }
  const atom = atomOf(type)
  const current = await walked(request, () => asWritten(type, asJson(object)))
  await walked(request, () =>
    attempt('error applying patch: failed to convert patch object to typed object', () => {
      if (!of.isPublished)
        throw new DecodeError(`no corresponding type for ${kind.group}/${kind.version}, Kind=${kind.kind}`)
      const [foreign] = kept(configuration, () => foreignIn(atom, value, ''))
      if (foreign !== undefined) throw new DecodeError(foreign)
      checkType(atom, configuration, 'refused')
    }),
  )
  const atomics = atomicsIn(atom, configuration, '')
  if (atomics.length > 0)
    throw new MutationProblem(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`,
    )
  await walked(request, () =>
    attempt('error applying patch: failed to convert original object to typed object', () =>
      checkType(atom, current, 'allowed'),
    ),
  )
  const whole = await walked(request, () =>
    attempt('error applying patch: failed to merge patch', () => merge(atom, current, configuration)),
  )
  // a merge of objects is an object
  const result = await walked(request, () => copyOf(whole as JsonTree) as JsonObject)
  const normal = await walked(request, () => inNormalForm(type, result))
  const typed = { ...normal, kind: kind.kind, apiVersion: apiVersionOf(kind) }
  await walked(request, () => applyDefaults(type, typed, defaulting))
  return asObject(typed)
}

/**
 * The errors for nulls, bytes, durations and timestamps in an expression's result. kube-apiserver merges these as
 * values of Go, which fit no type: a null is a protobuf enum number.
 * @param value has a JSON form, so its size has a limit
 */
function foreignIn(atom: Atom, value: Value | undefined, path: string): string[] {
  if (value instanceof Optional) return foreignIn(atom, value.value ?? null, path)
  const go = goValueOf(value)
  if (go !== undefined) return [`${path}: ${foreignProblem(atom, go)}`]
  if (value instanceof ListValue)
    return itemsOf(value).flatMap((item, index) =>
      atom.list === undefined ? [] : foreignIn(atom.list.element, item, `${path}[${index}]`),
    )
  return membersOf(value).flatMap(([name, member]) => {
    const type = atom.map?.declared(name) ?? atom.map?.others
    return type === undefined ? [] : foreignIn(type, member, `${path}.${name}`)
  })
}

function membersOf(value: Value | undefined): (readonly [name: string, value: Value | undefined])[] {
  if (value instanceof MadeObject) return [...value.fields]
  // keys that are no strings have no JSON form
  return value instanceof MapValue ? [...value.keys()].map((key) => [key as string, value.get(key)]) : []
}

/** A value as Go prints it. */
interface GoValue {
  readonly type: string
  /** With %v. */
  readonly plain: string
  /** With %#v. */
  readonly syntax: string
}

const NULL_VALUE: GoValue = { type: 'structpb.NullValue', plain: 'NULL_VALUE', syntax: '0' }

function goValueOf(value: Value | undefined): GoValue | undefined {
  if (value === null) return NULL_VALUE
  if (value instanceof Duration)
    return { type: 'time.Duration', plain: durationText(value), syntax: String(value.nanos) }
  if (value instanceof Uint8Array) {
    const bytes = [...value.subarray(0, SHOWN_BYTES)]
    const syntax = bytes.map((byte) => `0x${byte.toString(16)}`).join(', ')
    return { type: '[]uint8', plain: `[${bytes.join(' ')}]`, syntax: `[]uint8{${syntax}}` }
  }
  if (!(value instanceof Timestamp)) return undefined
  const date = new Date(Number(value.seconds) * 1000)
  const [day, time] = [date.toISOString().slice(0, 10), date.toISOString().slice(11, 19)]
  const month = date.toLocaleString('en', { month: 'long', timeZone: 'UTC' })
  const parts = [date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds(), value.nanos]
  return {
    type: 'time.Time',
    plain: `${day} ${time} +0000 UTC`,
    syntax: `time.Date(${date.getUTCFullYear()}, time.${month}, ${parts.join(', ')}, time.UTC)`,
  }
}

/** The most bytes that an error shows. */
const SHOWN_BYTES = 1_000

function foreignProblem({ scalar, list, map }: Atom, { type, plain, syntax }: GoValue): string {
  if (scalar === 'string') return `expected string, got &value.valueUnstructured{Value:${syntax}}`
  if (scalar === 'numeric') return `expected numeric (int or float), got ${type}`
  if (scalar === 'boolean') return `expected boolean, got &{${plain}}`
  if (scalar === undefined && list !== undefined) return `expected list, got &{${plain}}`
  return scalar === undefined && map !== undefined
    ? `expected map, got &{${plain}}`
    : `expected any scalar, got &{${plain}}`
}

/** Paths of atomic fields in the value, which an ApplyConfiguration may not set. */
function atomicsIn(atom: Atom, value: Json | undefined, path: string): string[] {
  const found: string[] = []
  if (isJsonObject(value) && atom.map !== undefined) {
    if (atom.map.atomic) found.push(path)
    for (const [name, member] of Object.entries(value)) {
      const type = atom.map.declared(name)
      if (type !== undefined) append(found, atomicsIn(type, member, `${path}.${name}`))
    }
  }
  if (Array.isArray(value) && atom.list !== undefined) {
    if (atom.list.atomic) found.push(path)
    for (const [index, item] of value.entries()) append(found, atomicsIn(atom.list.element, item, `${path}[${index}]`))
  }
  return found
}

async function jsonPatched(request: ApiCall, value: Value, object: KubeObject, of: PatchedType): Promise<KubeObject> {
  const { type } = of
  const maker = new JsonMaker('text')
  const operations = value instanceof ListValue ? itemsOf(value).map((one) => operationOf(one, maker)) : []
  // an operation of a patch in a body has about as many characters
  const size = maker.size + operations.length * 64
  await takeRoomBeside(request, size)
  const written = await walked(request, () => asWritten(type, asJson(object)) as JsonTree)
  const copy = await walked(request, () => copyOf(written))
  let patched: Patched
  try {
    patched = await walked(request, () => applyJsonPatch(copy, { operations, strict: [] }))
  } catch (error) {
    if (!(error instanceof PatchRejection)) throw error
    if (error.isFailedTest) return object
    throw new MutationProblem(`JSON Patch: ${error.why}`)
  }
  await takeRoomBeside(request, size + patched.copied)
  return walked(request, () => decodeMade(patched.document, of, 'strict'))
}

function operationOf(made: Value, maker: JsonMaker): Operation {
  if (!(made instanceof MadeObject)) throw new Error('assertion failed: the checker lets a list of JSONPatch through')
  const text = (name: string): string | undefined => {
    const value = made.fields.get(name)
    return typeof value === 'string' ? value : undefined
  }
  const value = made.fields.get('value')
  const json =
    value === undefined
      ? undefined
      : attempt('JSONPath valueExpression evaluated to a type that could not marshal to JSON', () => maker.of(value))
  if (value instanceof MadeObject) checkNames(value, value.type.name)
  return {
    op: text('op') ?? '',
    path: text('path') ?? '',
    from: text('from') || undefined,
    value: json as JsonTree | undefined, // JSON without number literals is a tree
    isSpelledAsStored: true,
  }
}
