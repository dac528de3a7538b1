/** The patches that a mutating policy makes (apiserver's plugin/policy/mutating/patch). */
import { append } from '../../api/append.ts'
import type { GroupVersionKind } from '../../api/group-version.ts'
import { apiVersionOf } from '../../api/group-version.ts'
import type { Json, JsonObject, KubeObject } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { itemsOf } from '../../cel/collections.ts'
import type { Value } from '../../cel/value.ts'
import { ListValue } from '../../cel/value.ts'
import { DecodeError } from '../../codec/decode-problems.ts'
import type { JsonTree } from '../../api/json.ts'
import { RUNTIME_BUDGET } from '../../expressions/environments.ts'
import { madeJson, NoJson } from '../../expressions/made-json.ts'
import { MadeObject, misnamedTypes } from '../../expressions/mutation-types.ts'
import { copyOf } from '../../patch/json-document.ts'
import type { Operation } from '../../patch/json-patch.ts'
import { applyJsonPatch, PatchRejection } from '../../patch/json-patch-operations.ts'
import { asWritten, inNormalForm } from '../../patch/object-forms.ts'
import { merge } from '../../patch/merge.ts'
import { checkType, TypeMismatch } from '../../patch/type-problems.ts'
import type { Atom } from '../../schema/atom.ts'
import { atomOf } from '../../schema/atom.ts'
import { applyDefaults } from '../../schema/defaulting.ts'
import type { PatchedType } from '../made-object.ts'
import { convertsBetweenVersions, decodeMade } from '../made-object.ts'
import type { CompiledMutation, CompiledPolicy } from './compiled-policy.ts'
import type { Subject } from './evaluation.ts'
import { Evaluation, OutOfBudget } from './evaluation.ts'
import { asSeen } from './versioned-object.ts'

/** A mutation cannot be applied. The failure policy decides whether the request fails. */
export class MutationProblem extends Error {}

/**
 * @param object the object to change; expressions see it as Go writes it
 * @returns the mutated object, which may share parts with the given one
 * @throws MutationProblem
 * @throws StatusError where the result is no object of the kind
 */
export async function mutated(
  { patchType, expression }: CompiledMutation,
  { variables }: CompiledPolicy,
  subject: Subject,
  object: KubeObject,
  of: PatchedType,
): Promise<KubeObject> {
  if (expression.program === undefined) throw new MutationProblem(expression.problem)
  const value = await valueOf(
    new Evaluation({ ...subject, object: asSeen(object) }, variables, RUNTIME_BUDGET),
    expression,
  )
  const patched = patchType === 'JSONPatch' ? jsonPatched(value, object, of) : configured(value, object, of)
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
function configured(value: Value, object: KubeObject, of: PatchedType): KubeObject {
  const { type, kind, defaulting } = of
  const made = attempt('invalid return type', () => madeJson(value, 'number'))
  checkNames(value, 'Object')
  const configuration: JsonObject = {
    ...(isJsonObject(made) ? made : {}),
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
  }
  const atom = atomOf(type)
  const current = asWritten(type, asJson(object))
  attempt('error applying patch: failed to convert patch object to typed object', () => {
    if (!of.isPublished)
      throw new DecodeError(`no corresponding type for ${kind.group}/${kind.version}, Kind=${kind.kind}`)
    const [nothing] = nullsIn(atom, configuration, '')
    if (nothing !== undefined) throw new DecodeError(nothing)
    checkType(atom, configuration, 'refused')
  })
  const atomics = atomicsIn(atom, configuration, '')
  if (atomics.length > 0)
    throw new MutationProblem(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`,
    )
  attempt('error applying patch: failed to convert original object to typed object', () =>
    checkType(atom, current, 'allowed'),
  )
  const whole = attempt('error applying patch: failed to merge patch', () => merge(atom, current, configuration))
  // a merge of objects is an object
  const result = copyOf(whole as JsonTree) as JsonObject
  const typed = { ...inNormalForm(type, result), kind: kind.kind, apiVersion: apiVersionOf(kind) }
  applyDefaults(type, typed, defaulting)
  return asObject(typed)
}

/**
 * The errors for nulls in an expression's result. kube-apiserver sees a null as a protobuf enum number, which fits no
 * type.
 */
function nullsIn(atom: Atom, value: Json | undefined, path: string): string[] {
  if (value === null) return [`${path}: ${nullProblem(atom)}`]
  if (Array.isArray(value))
    return value.flatMap((item, index) =>
      atom.list === undefined ? [] : nullsIn(atom.list.element, item, `${path}[${index}]`),
    )
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const type = atom.map?.declared(name) ?? atom.map?.others
    return type === undefined ? [] : nullsIn(type, member, `${path}.${name}`)
  })
}

function nullProblem({ scalar, list, map }: Atom): string {
  if (scalar === 'string') return 'expected string, got &value.valueUnstructured{Value:0}'
  if (scalar === 'numeric') return 'expected numeric (int or float), got structpb.NullValue'
  if (scalar === 'boolean') return 'expected boolean, got &{NULL_VALUE}'
  if (scalar === undefined && list !== undefined) return 'expected list, got &{NULL_VALUE}'
  return scalar === undefined && map !== undefined
    ? 'expected map, got &{NULL_VALUE}'
    : 'expected any scalar, got &{NULL_VALUE}'
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

function jsonPatched(value: Value, object: KubeObject, of: PatchedType): KubeObject {
  const { type } = of
  const operations = value instanceof ListValue ? itemsOf(value).map(operationOf) : []
  let document: JsonTree
  try {
    document = applyJsonPatch(copyOf(asWritten(type, asJson(object)) as JsonTree), { operations, strict: [] })
  } catch (error) {
    if (!(error instanceof PatchRejection)) throw error
    if (error.isFailedTest) return object
    throw new MutationProblem(`JSON Patch: ${error.why}`)
  }
  return decodeMade(document, of, 'strict')
}

function operationOf(made: Value): Operation {
  if (!(made instanceof MadeObject)) throw new Error('assertion failed: the checker lets a list of JSONPatch through')
  const text = (name: string): string | undefined => {
    const value = made.fields.get(name)
    return typeof value === 'string' ? value : undefined
  }
  const value = made.fields.get('value')
  const json =
    value === undefined
      ? undefined
      : attempt('JSONPath valueExpression evaluated to a type that could not marshal to JSON', () =>
          madeJson(value, 'text'),
        )
  if (value instanceof MadeObject) checkNames(value, value.type.name)
  return {
    op: text('op') ?? '',
    path: text('path') ?? '',
    from: text('from') || undefined,
    value: json as JsonTree | undefined, // JSON without number literals is a tree
    isSpelledAsStored: true,
  }
}
