/**
 * Server-side apply. It merges the applied configuration into the live object, and removes the fields that this
 * manager applied before and has now left out. It fails with a conflict where another manager owns a field that would
 * change (structured-merge-diff's pkg/merge, and the chain of apimachinery's pkg/util/managedfields around it).
 */
import { inParts } from '../base/parts.ts'
import { atOnce } from '../base/slices.ts'
import type { Steps } from '../base/slices.ts'
import type { GroupVersionKind } from '../api/group-version.ts'
import { apiVersionOf, parseApiVersion } from '../api/group-version.ts'
import { asJson, isJsonObject } from '../api/object.ts'
import type { Json, JsonObject, KubeObject } from '../api/object.ts'
import { StatusError, badRequest, plainError } from '../api/status.ts'
import { atomOf } from '../schema/atom.ts'
import type { Atom } from '../schema/atom.ts'
import type { StructType } from '../schema/structural.ts'
import { valuesEqualApart } from '../json/value-order.ts'
import { FieldSet, workOn } from './field-set.ts'
import { losing, stepsAfter, reconciledManagers } from './managed-fields.ts'
import { saying, versionConverter, versionsOf, withoutManagedFields } from './object-versions.ts'
import { decodeManagers, encodeManagers, managerKey, neverOwned, timeText } from './managers.ts'
import { asWritten, emptyObject } from './object-forms.ts'
import type { ConvertVersion, Converter, Versioned } from './object-versions.ts'
import type { Managers, Owned } from './managers.ts'
import type { ResetFields } from './reset-fields.ts'
import { fieldsIn, removeFields, withNamedFields } from './fields-of-value.ts'
import { merge } from './merge.ts'
import { TypeMismatch, checkType } from './type-problems.ts'
import { Conflicts, throwConflicts } from './apply-conflicts.ts'
import { fieldsOfLastApplied, refreshLastApplied } from './last-applied.ts'

export interface Application {
  readonly type: StructType
  readonly kind: GroupVersionKind
  /** The live object in the version of the request; undefined where it does not exist yet. */
  readonly live: KubeObject | undefined
  /** The applied configuration, as it was sent. */
  readonly config: JsonObject
  readonly manager: string
  readonly force: boolean
  readonly subresource: string
  readonly now: Date
  readonly resetFields?: ResetFields | undefined
  readonly convert?: ConvertVersion | undefined
  /**
   * Why an object of this kind can't be converted. An apply that changes the object fails with this text, after the
   * check for conflicts.
   */
  readonly unconvertible?: string | undefined
  /**
   * Makes the merged object an object in normal form, with defaults.
   * @throws Error that says what does not fit the type
   */
  toObject(merged: JsonObject): KubeObject
}

/**
 * Returns the object to be stored, with its managedFields.
 * @throws StatusError 400 where the configuration is of another kind, 409 for conflicts, 500 without a reason where a
 * value does not fit its type
 */
export const serverSideApply = (application: Application): KubeObject => atOnce(applying(application))

export function* applying(application: Application): Steps<KubeObject> {
  const { kind, config, live, manager } = application
  const sent = kindOf(config)
  if (!sameKind(sent, kind)) throw badRequest(`invalid object type: ${kindText(sent)}`)
  const managers = yield* inParts(() => storedManagers(live))
  const applied = yield* applyOrUpgrade(application, managers)
  const object = applied.object ?? structuredCloneOf(live ?? unnamed(application))
  if (manager === KUBECTL) yield* refreshLastApplied(object, config)
  const managedFields = yield* inParts(() => encodeManagers(applied.managers))
  if (managedFields === undefined) delete object.metadata.managedFields
  else object.metadata.managedFields = managedFields
  return object
}

/** The object of an apply that creates it with an empty configuration. */
const unnamed = ({ type, kind }: Application): KubeObject => {
  const object = emptyObject(type, apiVersionOf(kind)) as JsonObject
  return { ...object, metadata: { ...(object.metadata as JsonObject | undefined) } } as unknown as KubeObject
}

const structuredCloneOf = (live: KubeObject): KubeObject => ({ ...live, metadata: { ...live.metadata } })

function kindOf(config: JsonObject): GroupVersionKind {
  const { apiVersion, kind } = config
  const version = parseApiVersion(typeof apiVersion === 'string' ? apiVersion : '')
  if (version === undefined) return { group: '', version: '', kind: '' }
  return { ...version, kind: typeof kind === 'string' ? kind : '' }
}

const sameKind = (a: GroupVersionKind, b: GroupVersionKind) =>
  a.group === b.group && a.version === b.version && a.kind === b.kind

const kindText = ({ group, version, kind }: GroupVersionKind) => `${group}/${version}, Kind=${kind}`

function storedManagers(live: KubeObject | undefined): Managers {
  try {
    return decodeManagers(live?.metadata.managedFields)
  } catch (error) {
    throw plainError(`failed to decode managed fields: ${messageOf(error)}`)
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

interface Applied {
  /** Undefined when the live object stays as it is. */
  readonly object: KubeObject | undefined
  readonly managers: Managers
}

const KUBECTL = 'kubectl'

/**
 * kubectl may take over the fields of a client-side apply: a field that still has the value of the last-applied
 * annotation is no conflict.
 */
function* applyOrUpgrade(application: Application, managers: Managers): Steps<Applied> {
  try {
    return yield* apply(application, managers, application.force)
  } catch (error) {
    if (!(error instanceof Conflicts)) throw error
    if (application.manager !== KUBECTL) throw yield* error.inStatus()
    const allowed = yield* fieldsOfLastApplied(application.type, application.kind, application.live)
    const left = allowed === undefined ? error : error.without(allowed)
    if (left !== undefined) throw yield* left.inStatus()
    return yield* apply(application, managers, true)
  }
}

const BEFORE_FIRST_APPLY = 'before-first-apply'

function* apply(application: Application, managers: Managers, force: boolean): Steps<Applied> {
  const { kind, config, manager, subresource, now } = application
  const apiVersion = apiVersionOf(kind)
  if (isJsonObject(config['metadata']) && Array.isArray(config['metadata']['managedFields']))
    throw badRequest('metadata.managedFields must be nil')
  const before = managers.size === 0 ? yield* untrackedManagers(application) : managers
  const entry = { manager: manager || 'unknown', operation: 'Apply' as const, apiVersion, subresource }
  const key = managerKey(entry)
  const { merged, managers: after } = yield* compared(
    update(application, before, { ...entry, time: before.get(key)?.time }, force),
  )
  const own = after.get(key)
  if (own !== undefined) {
    yield workOn([own.fields])
    const fields = own.fields.difference(neverOwned())
    if (fields.isEmpty) after.delete(key)
    else after.set(key, { ...own, fields, time: merged === undefined ? own.time : timeText(now) })
  }
  const object = merged && (yield* inParts(() => toObject(application, merged)))
  return { object, managers: after }
}

/** A mismatch with the type in another version becomes an error with the same text. */
function* compared(comparing: Steps<Updated>): Steps<Updated> {
  try {
    return yield* comparing
  } catch (error) {
    throw error instanceof TypeMismatch ? plainError(error.message) : error
  }
}

/** An object without managedFields gets a first manager, `before-first-apply`, which owns all its fields. */
function* untrackedManagers(application: Application): Steps<Managers> {
  const { live, type, kind, subresource, now, resetFields, convert } = application
  if (live === undefined) return new Map()
  if (application.unconvertible !== undefined)
    throw plainError(
      `failed to create manager for existing fields: failed to convert live object (/; ${kindText(kind)}) to proper version: ${application.unconvertible}`,
    )
  try {
    yield* inParts(() => checkType(atomOf(type), asWritten(type, withoutManagedFields(live)), 'allowed'))
    return yield* stepsAfter(
      {
        type,
        live: undefined,
        object: live,
        manager: BEFORE_FIRST_APPLY,
        apiVersion: apiVersionOf(kind),
        subresource,
        now,
        resetFields,
        convert,
      },
      new Map(),
    )
  } catch (error) {
    const why =
      error instanceof TypeMismatch
        ? `failed to convert new object (${identityOf(asJson(live))}) to smd typed: ${error.message}`
        : messageOf(error)
    throw plainError(`failed to create manager for existing fields: ${why}`)
  }
}

function toObject({ toObject, config, kind, unconvertible }: Application, merged: JsonObject): KubeObject {
  if (unconvertible !== undefined)
    throw plainError(`failed to convert new object (${identityOf(config)}) to proper version: ${unconvertible}`)
  try {
    return toObject(merged)
  } catch (error) {
    if (error instanceof StatusError) throw error
    const type = kindText(kind)
    throw plainError(
      `failed to convert new object (${identityOf(config)}) to proper version: unable to convert unstructured object to ${type}: ${messageOf(error)}`,
    )
  }
}

/** `NAMESPACE/NAME; apps/v1, Kind=Deployment`, read from the object. */
function identityOf(object: JsonObject): string {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {}
  const text = (value: Json | undefined) => (typeof value === 'string' ? value : '')
  return `${text(metadata['namespace'])}/${text(metadata['name'])}; ${kindText(kindOf(object))}`
}

interface Updated {
  /** Undefined when it equals the live object. */
  readonly merged: JsonObject | undefined
  readonly managers: Map<string, Owned>
}

function* update(
  application: Application,
  before: Managers,
  applier: Omit<Owned, 'fields'>,
  force: boolean,
): Steps<Updated> {
  const { type, config, live, resetFields, convert } = application
  const { apiVersion } = applier
  const atom = atomOf(type)
  yield* inParts(() => mustBeTyped(() => checkType(atom, config, 'refused'), 'patch', config))
  const current = yield* inParts(() =>
    live === undefined ? emptyObject(type, apiVersion) : asWritten(type, withoutManagedFields(live)),
  )
  yield* inParts(() => mustBeTyped(() => checkType(atom, current, 'allowed'), 'live', current))

  const converter = versionConverter(convert)
  const versioned = (value: Json): Versioned => ({ type, apiVersion, value })
  const unchanged = versionsOf(versioned(current), versioned(current), converter, resetFields)
  const managers = yield* reconciledManagers(before, unchanged)
  const key = managerKey(applier)
  const last = managers.get(key)
  const fields = yield* inParts(() => fieldsIn(atom, config))
  const filter = resetFields?.(apiVersion)
  managers.set(key, { ...applier, fields: filter === undefined ? fields : filter(fields) })

  const merging = yield* inParts(() => mustMerge(() => merge(atom, current, config)))
  const pruned = yield* prune(versioned(merging), managers, apiVersion, last, converter)
  const versions = yield* inParts(() => versionsOf(versioned(current), pruned, converter, resetFields, NOT_CONVERTED))
  if (!force) yield* throwConflicts(managers, versions, key)
  const isSame = yield* inParts(() => valuesEqualApart(current, pruned.value))
  // merging objects makes an object
  const merged = isSame ? undefined : (pruned.value as JsonObject)
  return { merged, managers: yield* losing(managers, versions, key) }
}

function mustBeTyped(check: () => void, which: string, object: Json): void {
  try {
    check()
  } catch (error) {
    throw plainError(
      `failed to create typed ${which} object (${identityOf(isJsonObject(object) ? object : {})}): ${messageOf(error)}`,
    )
  }
}

function mustMerge(merging: () => Json): Json {
  try {
    return merging()
  } catch (error) {
    throw plainError(`failed to merge config: ${messageOf(error)}`)
  }
}

const NOT_CONVERTED = { before: 'failed to convert old object', after: 'failed to convert new object' }

/** Converts a value, as a part of its own: a webhook may have to. @param what the error says before its reason */
const converting = (
  convert: Converter,
  value: Versioned,
  apiVersion: string,
  what = '',
): Steps<Versioned | undefined> =>
  inParts(() => saying(`failed to prune fields${what}`, () => convert(value, apiVersion)))

/**
 * Removes the fields that this manager applied the last time and has now left out, except those that other managers
 * own.
 */
function* prune(
  merged: Versioned,
  managers: Managers,
  apiVersion: string,
  last: Owned | undefined,
  convert: Converter,
): Steps<Versioned> {
  if (last === undefined || last.fields.isEmpty) return merged
  const converted = yield* converting(
    convert,
    merged,
    last.apiVersion,
    ': failed to convert merged object to last applied version',
  )
  if (converted === undefined) return merged
  const atom = atomOf(converted.type)
  yield workOn([last.fields])
  const named = withNamedFields(atom, last.fields)
  const pruned = { ...converted, value: yield* inParts(() => removeFields(atom, converted.value, named)) }
  const withOwned = yield* addBackOwned(converted, pruned, managers, convert)
  const withDangling = yield* addBackDangling(converted, withOwned, last, convert)
  return (yield* converting(convert, withDangling, apiVersion)) ?? withDangling
}

/** Puts back the pruned fields that other managers own, starting with the version of the merged object. */
function* addBackOwned(merged: Versioned, pruned: Versioned, managers: Managers, convert: Converter): Steps<Versioned> {
  const setsOf = new Map<string, FieldSet[]>([[merged.apiVersion, []]])
  for (const { apiVersion, fields } of managers.values()) {
    const sets = setsOf.get(apiVersion)
    if (sets === undefined) setsOf.set(apiVersion, [fields])
    else sets.push(fields)
  }
  const owned = new Map<string, FieldSet>()
  for (const [apiVersion, sets] of setsOf) {
    yield workOn(sets)
    owned.set(apiVersion, yield* FieldSet.unionOf(sets))
  }
  let [whole, result] = [merged, pruned]
  for (const [apiVersion, fields] of owned) {
    if (apiVersion === merged.apiVersion && fields.isEmpty) continue
    const failed = (which: string): string =>
      `: failed add back owned items: failed to convert ${which} object at version ${apiVersion}`
    const converted = yield* converting(convert, whole, apiVersion, failed('merged'))
    const convertedResult = converted && (yield* converting(convert, result, apiVersion, failed('pruned')))
    if (converted === undefined || convertedResult === undefined) continue
    const atom = atomOf(converted.type)
    const before = yield* namedFieldsIn(atom, converted)
    const after = yield* namedFieldsIn(atom, convertedResult)
    yield workOn([after, fields])
    const kept = after.union(withNamedFields(atom, fields))
    yield workOn([before])
    const removed = before.difference(kept)
    whole = converted
    result = { ...converted, value: yield* inParts(() => removeFields(atom, converted.value, removed)) }
  }
  return result
}

/** Puts back the pruned fields that no manager owns. After this only fields that this manager owned are gone. */
function* addBackDangling(merged: Versioned, pruned: Versioned, last: Owned, convert: Converter): Steps<Versioned> {
  const converted = yield* converting(
    convert,
    pruned,
    last.apiVersion,
    ': failed add back dangling items: failed to convert pruned object to last applied version',
  )
  if (converted === undefined) return merged
  const atom = atomOf(merged.type)
  const before = yield* namedFieldsIn(atom, merged)
  const after = yield* namedFieldsIn(atom, converted)
  yield workOn([before])
  const gone = before.difference(after)
  yield workOn([gone, last.fields])
  const removed = gone.intersection(withNamedFields(atom, last.fields))
  return { ...merged, value: yield* inParts(() => removeFields(atom, merged.value, removed)) }
}

function* namedFieldsIn(atom: Atom, { value }: Versioned): Steps<FieldSet> {
  const fields = yield* inParts(() => fieldsIn(atom, value))
  yield workOn([fields])
  return withNamedFields(atom, fields)
}
