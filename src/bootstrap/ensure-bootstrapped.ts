/**
 * Writes the objects of a fresh control plane at its first request: one call to each shard that gets objects, all in
 * parallel, and at the end a mark in the control shard. Without the mark the next request writes again, and keeps
 * objects that exist: so a crash midway, two isolates at once and a new release do no harm. Users may change and
 * delete these objects later.
 *
 * With an audit log each object is a call of its own, like kube-apiserver's. The server writes the event before the
 * object, and the event says whether this server wrote the object.
 *
 * The mark identifies the written objects. If this server would write others (a new release, another address or
 * setting), a controller adds missing objects, updates those that depend on settings (`writeEdition`) and puts right
 * what users changed of default roles (`repairsOf`). It calls admission, because there may be policies and webhooks by
 * then, and requests do not wait for it. The transaction that writes the new mark also adds that work. After a start
 * the same mark is written again where something is to be put right (`checkAfterStart`).
 */
import { settingsOf } from '../settings.ts'
import { atOnce } from '../base/slices.ts'
import type { JsonObject, KubeObject } from '../api/object.ts'
import { stringifySorted } from '../json/write-json.ts'
import { parseApiVersion } from '../api/group-version.ts'
import type { Live } from '../codec/stored-object.ts'
import { parseStoredObject } from '../codec/stored-object.ts'
import type { ResourceScope } from '../registry/resource-scope.ts'
import { serverScope } from '../registry/scope.ts'
import { readLive } from '../registry/store.ts'
import { trackingFields } from '../registry/track-fields.ts'
import { BY_SERVER } from '../registry/write/actor.ts'
import { auditedScope } from '../registry/write/audited-scope.ts'
import type { WritingVerb } from '../registry/write/audited-scope.ts'
import type { Topic } from '../registry/work/topic.ts'
import type { Admission } from '../registry/write/admission.ts'
import { withoutAdmission } from '../registry/write/admission.ts'
import { admitted } from '../registry/write/allocate.ts'
import { commitUpdate, encode } from '../registry/write/commit.ts'
import { serverCall } from '../registry/write/server-call.ts'
import type { Env } from '../env.ts'
import { timeText } from '../schema/time.ts'
import { CONTROL_SHARD, collectionOf } from '../storage/collections.ts'
import { StorageError } from '../storage/errors.ts'
import type { KeyedValue } from '../storage/storage.ts'
import { writtenShardRow } from '../storage/shards/written-shards.ts'
import type { ControlSnapshot, NewControlPlane } from '../tenancy/control-snapshot.ts'
import type { BootstrapObject, StoredBootstrapObject } from './bootstrap-object.ts'
import { followedForm, resourceOf, storedForm } from './bootstrap-object.ts'
import { policyObjects } from './policy-objects.ts'
import { endpointsPutRight, slicePutRight } from './server-endpoints.ts'
import { serverIdentity, serverObjects } from './server-objects.ts'
import { checkAfterStart, skipStartCheck } from './start-check.ts'

interface Mark extends KubeObject {
  readonly written: string
}

/** Raise this number when a release changes the objects, so that existing control planes get them. */
const EDITION = 1

/** The key prefix of the mark, which no resource has. */
const MARKS = { group: 'kedge', resource: 'bootstraps' }
const MARK_PREFIX = 'bootstraps.kedge'
const MARK_KEY = 'control-plane'

const SERVICE = { resource: { group: '', resource: 'services' }, key: 'default/kubernetes' }

/** @returns whether anything was written; then the caller drops its control snapshot */
export async function ensureBootstrapped(plane: NewControlPlane, snapshot: ControlSnapshot): Promise<boolean> {
  const mark = snapshot.get<Mark>(MARKS, MARK_KEY)
  const edition = editionOf(plane.env)
  if (mark?.written === edition) {
    checkAfterStart(plane, snapshot, () => writeMark(plane, edition, mark))
    return false
  }
  skipStartCheck(plane)
  if (mark === undefined) await writeObjects(plane)
  await writeMark(plane, edition, mark)
  return true
}

function editionOf(env: Env): string {
  const settings = settingsOf(env)
  const { advertise = '', serviceRange, runtimeConfig, featureGates } = settings
  const { clientAuthorities = '', rootAuthorities = '', requestHeaderAuthority = '' } = settings
  return JSON.stringify([
    EDITION,
    advertise,
    serviceRange,
    runtimeConfig,
    featureGates,
    clientAuthorities,
    ...(rootAuthorities === clientAuthorities ? [] : [rootAuthorities]),
    requestHeaderAuthority,
  ])
}

async function writeObjects(plane: NewControlPlane): Promise<void> {
  const { tenant, storage } = plane
  const forms = await formsOf(plane)
  // first, so that the list of written shards has every shard as soon as it has one
  await storage.createMissing({ tenant: tenant.uid, shard: CONTROL_SHARD }, [
    writtenShardRow(tenant.uid, CONTROL_SHARD),
  ])
  // a server with other settings may have begun this and stopped midway
  await writeMissing(plane, forms, () =>
    Promise.all(
      forms
        .filter(({ one }) => one.follows !== undefined)
        .map((form) => putRight(plane, form, withoutAdmission).catch(ignoreConflict)),
    ),
  )
}

/** All objects of a fresh control plane, in the order in which they become visible. */
async function formsOf(plane: NewControlPlane): Promise<Form[]> {
  const { env, tenant, now } = plane
  const server = serverObjects({ env, now, identity: await serverIdentity(tenant) })
  return [...server, ...(await policyObjects(timeOf(plane), settingsOf(env).gates))].map((one) => newForm(plane, one))
}

/**
 * The same, for a control plane that may have them. Service `kubernetes` keeps the address that it got with earlier
 * settings; when it is deleted, it comes back with one of these.
 */
async function formsOfKnown(plane: NewControlPlane): Promise<Form[]> {
  const forms = await formsOf(plane)
  const service = await plane.storage.get(collectionOf(plane.tenant, SERVICE.resource), SERVICE.key)
  return service === undefined ? forms : forms.filter(({ one }) => one.withService !== true)
}

/** An object that could not be written. */
export interface Unwritten {
  /** `RESOURCE.GROUP/NAMESPACE/NAME` */
  readonly key: string
  readonly why: unknown
}

/** Restores deleted objects that the server needs. @returns errors */
export async function restoreServerObjects(plane: NewControlPlane, admission: Admission): Promise<Unwritten[]> {
  const forms = await formsOfKnown(plane)
  return eachWritten(
    forms.filter(({ one }) => one.restored),
    (form) => createAdmitted(plane, form, admission),
  )
}

/** Puts right what users changed of the server's own endpoints, and may not change. @returns errors */
export async function mendServerEndpoints(plane: NewControlPlane, admission: Admission): Promise<Unwritten[]> {
  const forms = await formsOf(plane)
  const ofServer = (resource: string) => forms.filter(({ one }) => one.resource === resource)
  let followed: KubeObject | undefined
  const mended = await eachWritten(ofServer('endpoints'), async (form) => {
    followed = await mend(plane, form, admission, endpointsPutRight)
  })
  if (followed === undefined) return mended
  const endpoints = followed
  const slices = await eachWritten(ofServer('endpointslices'), (form) =>
    mend(plane, form, admission, (live, own) => slicePutRight(live, own, endpoints)),
  )
  return [...mended, ...slices]
}

/**
 * @param rule returns undefined where nothing is wrong
 * @returns the object as it is now
 */
async function mend(
  plane: NewControlPlane,
  { one, form }: Form,
  admission: Admission,
  rule: (live: KubeObject, own: KubeObject) => KubeObject | undefined,
): Promise<KubeObject | undefined> {
  const scope = scopeOf(plane, 'update', one)
  const live = await readLive(scope, form.object.metadata.name ?? '')
  const right = live && rule(live.object, form.object)
  if (live === undefined || right === undefined) return live?.object
  atOnce(trackingFields(scope, live.object, right, BY_SERVER.fieldManager))
  // the other write brings the work again
  await replace(scope, right, live, admission).catch(ignoreConflict)
  return right
}

/**
 * Adds the objects of this edition that the control plane lacks, and updates those that depend on settings.
 * @param snapshot the copy that saves a read for each object of the control shard
 * @param isWanted whether to write the object of a key
 * @returns errors
 */
export async function writeEdition(
  plane: NewControlPlane,
  snapshot: ControlSnapshot,
  admission: Admission,
  isWanted: (key: string) => boolean = () => true,
): Promise<Unwritten[]> {
  const forms = await formsOfKnown(plane)
  const isKnown = ({ one, form }: Form): boolean =>
    one.follows === undefined &&
    form.collection.shard === CONTROL_SHARD &&
    snapshot.get(resourceOf(one), form.key) !== undefined
  return eachWritten(
    forms.filter((form) => isWanted(keyOf(form)) && !isKnown(form)),
    async (form) => {
      await createAdmitted(plane, form, admission)
      if (form.one.follows !== undefined) await putRight(plane, form, admission)
    },
  )
}

/** Writes one object after the other: a namespace comes before its objects. */
async function eachWritten(forms: readonly Form[], write: (form: Form) => Promise<unknown>): Promise<Unwritten[]> {
  const unwritten: Unwritten[] = []
  for (const form of forms) await write(form).catch((why: unknown) => void unwritten.push({ key: keyOf(form), why }))
  return unwritten
}

const keyOf = ({ form: { collection, key } }: Form): string => `${collection.prefix}/${key}`

async function createAdmitted(plane: NewControlPlane, { one, form }: Form, admission: Admission): Promise<void> {
  const { collection, key, object } = form
  if ((await plane.storage.get(collection, key)) !== undefined) return
  const scope = scopeOf(plane, 'create', one)
  const options = { dryRun: false }
  await admission.mutate(scope, 'CREATE', options, { object })
  await admitted(scope, { options, admission }, object, undefined, async () => {
    const { value } = await encode(scope, object)
    await scope.storage.create(collection, key, value)
    return { object }
  }).catch(ignoreConflict)
}

interface Form {
  readonly one: BootstrapObject
  readonly form: StoredBootstrapObject
}

const timeOf = ({ now }: NewControlPlane): string => timeText(now)

function newForm(plane: NewControlPlane, one: BootstrapObject): Form {
  const identity = { uid: crypto.randomUUID(), creationTimestamp: timeOf(plane), now: plane.now }
  return { one, form: storedForm(plane.tenant, one, identity) }
}

/** Writes the control shard last: its objects make the others visible. */
async function writeMissing(
  plane: NewControlPlane,
  forms: readonly Form[],
  beforeControl?: () => Promise<unknown>,
): Promise<void> {
  const { env, storage, tenant } = plane
  const byShard = Map.groupBy(forms, ({ form }) => form.collection.shard)
  const control = byShard.get(CONTROL_SHARD) ?? []
  byShard.delete(CONTROL_SHARD)
  const missing = (shard: string, ofShard: readonly Form[]): Promise<unknown> =>
    settingsOf(env).audit === undefined
      ? storage.createMissing(
          { tenant: tenant.uid, shard },
          ofShard.map(({ form }): KeyedValue => ({ key: `${form.collection.prefix}/${form.key}`, value: form.value })),
        )
      : Promise.all(ofShard.map((form) => createAudited(plane, form)))
  await Promise.all([...byShard].map(([shard, ofShard]) => missing(shard, ofShard)))
  await beforeControl?.()
  await missing(CONTROL_SHARD, control)
}

async function createAudited(plane: NewControlPlane, { one, form }: Form): Promise<void> {
  const { collection, key, value } = form
  if ((await plane.storage.get(collection, key)) !== undefined) return
  await scopeOf(plane, 'create', one).storage.create(collection, key, value).catch(ignoreConflict)
}

function scopeOf(plane: NewControlPlane, verb: WritingVerb, one: BootstrapObject): ResourceScope {
  const { metadata, apiVersion = '' } = one.object
  const resource = { ...resourceOf(one), version: parseApiVersion(apiVersion)?.version ?? '' }
  const scope = serverScope(serverCall(plane), resource, { namespace: metadata.namespace ?? '' })
  return auditedScope({ ...scope, storage: plane.storage }, verb)
}

/** Sets fields that differ to those of this edition, where the object follows. */
async function putRight(plane: NewControlPlane, { one, form }: Form, admission: Admission): Promise<void> {
  const { name = '', uid: ownUid } = form.object.metadata
  const scope = scopeOf(plane, 'update', one)
  const live = await readLive(scope, name)
  if (live === undefined || live.object.metadata.uid === ownUid || one.follows?.(live.object) !== true) return
  const wanted = parseStoredObject(form.value.text)
  if (stringifySorted(bodyOf(live.object)) === stringifySorted(bodyOf(wanted))) return
  const object = followedForm(one, wanted, live.object, plane.now)
  await replace(scope, object, live, admission)
}

async function replace(scope: ResourceScope, object: KubeObject, live: Live, admission: Admission): Promise<void> {
  const options = { dryRun: false }
  await admission.mutate(scope, 'UPDATE', options, { object, oldObject: live.object })
  await admitted(scope, { options, admission }, object, live.object, async () =>
    commitUpdate(scope, await encode(scope, object), live),
  )
}

// objects are JSON
const bodyOf = ({ metadata: _metadata, ...body }: KubeObject): JsonObject => body as JsonObject

async function writeMark({ tenant, storage }: NewControlPlane, written: string, old: Mark | undefined): Promise<void> {
  const collection = { tenant: tenant.uid, shard: CONTROL_SHARD, prefix: MARK_PREFIX }
  const uid = crypto.randomUUID()
  const start = `{"metadata":{"name":"${MARK_KEY}","uid":"${uid}","resourceVersion":"`
  const outbox = old === undefined ? [] : [{ topic: 'server-edition' satisfies Topic, payload: '' }]
  const value = { text: `${start}"},"written":${JSON.stringify(written)}}`, at: start.length, uid, outbox }
  const revision = Number(old?.metadata.resourceVersion ?? '')
  const write =
    old === undefined
      ? storage.create(collection, MARK_KEY, value)
      : storage.update(collection, MARK_KEY, value, revision)
  await write.catch(ignoreConflict)
}

/** Ignores a conflict: another request wrote the object first. */
function ignoreConflict(error: unknown): void {
  if (error instanceof StorageError && (error.code === 'KeyExists' || error.code === 'Conflict')) return
  throw error
}
