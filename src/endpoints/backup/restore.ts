/**
 * POST /restore (for members of system:masters: authorization/privileged-paths) restores a backup into an empty
 * control plane. `?abandon=true` gives up a restore that cannot be finished: it removes the restored objects, and the
 * control plane is a new one.
 */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import { append } from '../../base/append.ts'
import type { GroupResource } from '../../api/group-version.ts'
import { groupResourceText, parseApiVersion } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { badRequest, StatusError } from '../../api/status.ts'
import { isServices, RestoredPorts } from '../../registry/core/services/node-ports.ts'
import { announceOwners } from '../../registry/work/owner-kinds.ts'
import type { WorkRules } from '../../registry/work/work.ts'
import { restoredValue } from '../../registry/write/commit.ts'
import type { ResourceEntry, ServedResources } from '../../registry/served/resources.ts'
import { customModelName } from '../../registry/custom-resources/custom-model-name.ts'
import { storageVersion, versionNamed } from '../../registry/custom-resources/definition.ts'
import { entryOf } from '../../registry/custom-resources/entries.ts'
import { definitionOf } from '../../registry/definitions.ts'
import { typeOfKind } from '../../schema/built-in.ts'
import { customKindType } from '../../schema/from-openapi.ts'
import type { StructType } from '../../schema/structural.ts'
import { collectionOf, isBuiltInStorage } from '../../storage/collections.ts'
import { servedWith } from '../../registry/served/served.ts'
import { liveOf } from '../../codec/stored-object.ts'
import { newValueOf } from '../../registry/stored-form.ts'
import type { ApiRequest } from '../../request/context.ts'
import { StorageError } from '../../storage/errors.ts'
import { linesOf } from '../../storage/streams/lines.ts'
import type { Collection, NewValue, RestoredValue, Revision } from '../../storage/storage.ts'
import type { End, Section } from './format.ts'
import { headIn, isDefinitions, parsedLine, sectionIn } from './format.ts'
import { BackupLines } from './digest.ts'
import { problemOf, shapeProblemOf } from './restored-object.ts'
import type { Strategy } from '../../registry/strategy.ts'
import { storedAs } from '../../registry/resource-scope.ts'
import type { Pause } from './restore-plan.ts'
import { lastRevisionAt, timeOf } from '../../storage/revisions/revision.ts'
import { isBeingRestored, RestorePlan } from './restore-plan.ts'
import { resourceScope } from '../../registry/scope.ts'

export const RESTORE_PATH = '/restore'

const BATCH = 200
/** Milliseconds by which the clock of the server that made the backup may be ahead. */
const MOST_AHEAD = 3_600_000

const wait: Pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))

export async function serveRestore(request: ApiRequest, pause: Pause = wait): Promise<Response> {
  if (request.method !== 'POST') throw new StatusError(405, 'MethodNotAllowed', 'a backup is restored with POST', {})
  if (request.query.get('abandon') === 'true') return abandon(request, pause)
  if (request.request.body === null) throw badRequest('the body must be a backup')
  const lines = new BackupLines(linesOf(request.request.body))
  const head = headIn(await lines.next())
  checkTime(head.revision, request.now)
  const plan = await RestorePlan.begin(request)
  const filling = new Filling(request, plan, lines, head.revision)
  const objects = await filling.run().catch(explain)
  await plan.end(head.revision, pause)
  const { unserved } = filling
  return Response.json({
    objects,
    revision: String(head.revision),
    time: head.time,
    ...(unserved.length === 0 ? {} : { unserved }),
  })
}

/**
 * The shards go on above the revision of a backup. Far ahead of the clock a shard of a new type could not reach it for a
 * long time, and beyond the largest number there are none.
 */
function checkTime(revision: Revision, now: Date): void {
  if (revision <= lastRevisionAt(now.getTime() + MOST_AHEAD)) return
  const time = new Date(timeOf(revision)).toISOString()
  throw badRequest(`the backup is of ${time}, and this server's clock says ${now.toISOString()}`)
}

async function abandon(request: ApiRequest, pause: Pause): Promise<Response> {
  if (!(await isBeingRestored(request)))
    throw new StatusError(409, 'Conflict', 'no restore is under way, and none was left unfinished', {})
  const plan = await RestorePlan.begin(request)
  await plan.end(0, pause)
  return Response.json({ objects: 0 })
}

/** Throws the error again. Its message says in which state the restore leaves the control plane. */
function explain(error: unknown): never {
  if (!(error instanceof StatusError)) throw error
  const left = 'nothing of the backup is served; restore a whole one, or give up with kedge restore --abandon'
  throw new StatusError(error.code, error.status.reason, `${error.message}; ${left}`, {})
}

class Filling {
  /** Bound: the definitions of the backup, which the control plane will hold. */
  private readonly definitions: CustomResourceDefinition[] = []
  /** The served resources with `definitions`. Undefined after more definitions were read. */
  private served: ServedResources | undefined
  /**
   * Types whose objects are restored but not served, because no definition serves the type. Bound: the sections of
   * the backup.
   */
  readonly unserved: string[] = []
  private readonly ports: RestoredPorts

  constructor(
    private readonly request: ApiRequest,
    private readonly plan: RestorePlan,
    private readonly lines: BackupLines,
    private readonly revision: Revision,
  ) {
    this.ports = new RestoredPorts(request.tenant)
  }

  /** @returns the number of objects */
  async run(): Promise<number> {
    let objects = 0
    for (let line = await this.lines.next(); line !== undefined; line = await this.lines.next()) {
      const section = sectionIn(line)
      if ('end' in section) {
        await this.checkEnd(section, objects)
        return objects
      }
      await this.fill(section)
      objects += section.count
    }
    throw endsTooEarly()
  }

  private async checkEnd(end: End, objects: number): Promise<void> {
    if (end.objects !== objects) throw badRequest(`the backup tells of ${end.objects} objects and has ${objects}`)
    if (end.sha256 !== undefined && end.sha256 !== (await this.lines.digestBefore()))
      throw badRequest('the backup is damaged: its SHA-256 is not the one that its last line tells')
    if ((await this.lines.next()) !== undefined) throw badRequest('the backup is damaged: lines follow its end')
  }

  private async fill(section: Section): Promise<void> {
    if (section.count === 0) return
    const { stored, collection, workRules, storageTypeOf, strategy, type } = await this.kindOf(section)
    const expected = { group: section.group, revision: this.revision, type }
    let batch: RestoredValue[] = []
    let ports: RestoredValue[] = []
    for (let left = section.count; left > 0; left--) {
      const text = await this.lines.next()
      if (text === undefined) throw endsTooEarly()
      const object = objectIn(text)
      const problem = problemOf(object, expected) ?? shapeProblemOf(text, storageTypeOf(object))
      if (problem !== undefined) throw badRequest(`the backup is damaged: an object of ${section.resource} ${problem}`)
      if (isDefinitions(section)) this.definitions.push(object)
      await announceOwners(this.request.env, this.request.tenant, stored, object)
      const encoded = { object, value: newValueOf(storageTypeOf(object), object, strategy) }
      const value = restoredValue(workRules, stored, encoded, this.request)
      batch.push(restored(object, value))
      if (isServices(section)) append(ports, this.ports.of(object))
      if (batch.length < BATCH && left > 1) continue
      await this.plan.put(collection, batch).catch(twice(section))
      if (ports.length > 0) await this.plan.put(this.ports.collection, ports)
      batch = []
      ports = []
    }
    if (isDefinitions(section)) this.served = undefined
  }

  private async kindOf(section: Section): Promise<RestoredKind> {
    const { group, resource } = section
    this.served ??= await servedWith(this.request.env, this.definitions)
    const entry =
      this.served.inGroup(group).find(({ storage }) => storage.resource === resource) ?? this.unservedEntry(section)
    if (entry !== undefined) {
      const scope = resourceScope(this.request, entry, { name: '', subresource: '', namespace: '' })
      const {
        collection,
        resource: { storageType, strategy, workRules },
      } = scope
      return { stored: storedAs(scope), collection, workRules, storageTypeOf: () => storageType, strategy, type: entry }
    }
    if (!isBuiltInStorage(section) && !isCustomName(section))
      throw badRequest(`the backup holds ${resource} of group "${group}", which this server does not serve`)
    this.unserved.push(groupResourceText(section))
    const definition = isBuiltInStorage(section) ? definitionOf(section) : {}
    return {
      stored: { group, resource },
      collection: collectionOf(this.request.tenant, section),
      workRules: definition,
      storageTypeOf: typeOf,
      strategy: definition,
    }
  }

  /** The entry of a type whose definition has no served version. */
  private unservedEntry(section: Section): ResourceEntry | undefined {
    for (const definition of this.definitions) {
      const version = versionNamed(definition, storageVersion(definition))
      if (version === undefined || definition.spec?.group !== section.group) continue
      const entry = entryOf(definition, version)
      if (entry.storage.resource === section.resource) return entry
    }
    return undefined
  }
}

/** The facts about a section's objects that a restore needs. */
interface RestoredKind {
  readonly stored: GroupResource
  readonly collection: Collection
  readonly workRules: WorkRules
  readonly strategy: Strategy
  storageTypeOf(object: KubeObject): StructType
  /** Undefined where nothing serves the type. */
  readonly type?: ResourceEntry
}

/** Whether a definition can define a resource of this name. */
const isCustomName = ({ group, resource }: GroupResource): boolean =>
  /^(custom:)?[a-z0-9-]{1,63}$/.test(resource) && /^[a-z0-9.-]{1,253}$/.test(group)

/** The type of an object; one without a definition is written as it is. */
function typeOf({ apiVersion = '', kind = '' }: KubeObject): StructType {
  const gvk = { group: '', version: '', ...parseApiVersion(apiVersion), kind }
  return typeOfKind(gvk) ?? customKindType(customModelName(gvk.group, gvk.version, kind), gvk, undefined)
}

const twice =
  ({ resource }: Section) =>
  (error: unknown): never => {
    if (!(error instanceof StorageError) || error.code !== 'KeyExists') throw error
    throw badRequest(`the backup is damaged: an object of ${resource}, or its resourceVersion, is there twice`)
  }

const endsTooEarly = () => badRequest('the backup ends too early')

function objectIn(text: string): KubeObject {
  // a truncated file ends with half a line
  const line = parsedLine(text)
  if (line === undefined) throw badRequest('the backup is damaged: a line is no JSON object')
  // where a line is missing, the beginning of the next resource comes in the place of an object
  const { metadata } = line
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata))
    throw badRequest(`the backup is damaged: ${text.slice(0, 200)} is no object`)
  return liveOf({ revision: 0, text }).object
}

/** Of an object that was checked. */
function restored({ metadata }: KubeObject, value: NewValue): RestoredValue {
  const { name = '', namespace = '', resourceVersion } = metadata
  return { key: namespace === '' ? name : `${namespace}/${name}`, revision: Number(resourceVersion), value }
}
