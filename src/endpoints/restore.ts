/**
 * POST /restore (for members of system:masters: authorization/privileged-paths): a backup into an empty control plane, and with `?abandon=true` the end of a restore that cannot be
 * finished: what it left is dropped, and the control plane is a new one.
 */
import type { CustomResourceDefinition } from '../api/apiextensions/v1.ts'
import type { KubeObject } from '../api/object.ts'
import { badRequest, StatusError } from '../api/status.ts'
import { announceOwners } from '../registry/owner-kinds.ts'
import { workForRestored } from '../controllers/restored-work.ts'
import type { ServedResources } from '../registry/resources.ts'
import { servedWith } from '../registry/served.ts'
import { liveOf } from '../codec/stored-object.ts'
import { newValueOf } from '../registry/stored-form.ts'
import type { ApiRequest } from '../request/context.ts'
import { linesOf } from '../storage/lines.ts'
import type { RestoredValue } from '../storage/storage.ts'
import type { Section } from './backup-format.ts'
import { headIn, isDefinitions, parsedLine, sectionIn } from './backup-format.ts'
import { keyOf, storedAs } from '../registry/resource-scope.ts'
import type { ResourceScope } from '../registry/resource-scope.ts'
import type { Pause } from './restore-plan.ts'
import { isBeingRestored, RestorePlan } from './restore-plan.ts'
import { resourceScope } from '../registry/scope.ts'

export const RESTORE_PATH = '/restore'

const BATCH = 200

const wait: Pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))

export async function serveRestore(request: ApiRequest, pause: Pause = wait): Promise<Response> {
  if (request.method !== 'POST') throw new StatusError(405, 'MethodNotAllowed', 'a backup is restored with POST', {})
  if (request.query.get('abandon') === 'true') return abandon(request, pause)
  if (request.request.body === null) throw badRequest('the body must be a backup')
  const lines = linesOf(request.request.body)
  const head = headIn((await lines.next()).value ?? undefined)
  const plan = await RestorePlan.begin(request)
  const objects = await new Filling(request, plan, lines).run().catch(explain)
  await plan.end(head.revision, pause)
  return Response.json({ objects, revision: String(head.revision), time: head.time })
}

async function abandon(request: ApiRequest, pause: Pause): Promise<Response> {
  if (!(await isBeingRestored(request)))
    throw new StatusError(409, 'Conflict', 'no restore is under way, and none was left unfinished', {})
  const plan = await RestorePlan.begin(request)
  await plan.end(0, pause)
  return Response.json({ objects: 0 })
}

/** What it leaves is said with what went wrong. */
function explain(error: unknown): never {
  if (!(error instanceof StatusError)) throw error
  const left = 'nothing of the backup is served; restore a whole one, or give up with kedge restore --abandon'
  throw new StatusError(error.code, error.status.reason, `${error.message}; ${left}`, {})
}

class Filling {
  /** Bound: those of the backup, which the control plane will hold. */
  private readonly definitions: CustomResourceDefinition[] = []
  /** By definitions: made again when some were read. */
  private served: ServedResources | undefined

  constructor(
    private readonly request: ApiRequest,
    private readonly plan: RestorePlan,
    private readonly lines: AsyncGenerator<string>,
  ) {}

  /** @returns how many objects there were */
  async run(): Promise<number> {
    let objects = 0
    for (let line = await this.next(); line !== undefined; line = await this.next()) {
      const section = sectionIn(line)
      if (!('end' in section)) {
        await this.fill(section)
        objects += section.count
      } else if (section.objects === objects) return objects
      else throw badRequest(`the backup tells of ${section.objects} objects and has ${objects}`)
    }
    throw endsTooEarly()
  }

  private async next(): Promise<string | undefined> {
    const { value, done } = await this.lines.next()
    return done === true ? undefined : value
  }

  private async fill(section: Section): Promise<void> {
    if (section.count === 0) return
    const scope = await this.scopeOf(section)
    let batch: RestoredValue[] = []
    for (let left = section.count; left > 0; left--) {
      const text = await this.next()
      if (text === undefined) throw endsTooEarly()
      const object = objectIn(text)
      if (isDefinitions(section)) this.definitions.push(object)
      await announceOwners(this.request.env, this.request.tenant, storedAs(scope), object)
      batch.push(restored(scope, object))
      if (batch.length < BATCH && left > 1) continue
      await this.plan.put(scope.collection, batch)
      batch = []
    }
    if (isDefinitions(section)) this.served = undefined
  }

  private async scopeOf({ group, resource }: Section): Promise<ResourceScope> {
    this.served ??= await servedWith(this.request.env, this.definitions)
    const entry = this.served.inGroup(group).find(({ storage }) => storage.resource === resource)
    if (entry === undefined)
      throw badRequest(`the backup holds ${resource} of group "${group}", which this server does not serve`)
    return resourceScope(this.request, entry, { name: '', subresource: '', namespace: '' })
  }
}

const endsTooEarly = () => badRequest('the backup ends too early')

function objectIn(text: string): KubeObject {
  // half a line is what a file that was cut off ends with
  if (parsedLine(text) === undefined) throw badRequest('the backup is damaged: a line is no JSON object')
  return liveOf({ revision: 0, text }).object
}

function restored(scope: ResourceScope, object: KubeObject): RestoredValue {
  const { name = '', namespace = '', resourceVersion } = object.metadata
  const revision = Number(resourceVersion)
  if (name === '' || !Number.isSafeInteger(revision) || revision <= 0)
    throw badRequest(`the backup is damaged: an object of ${scope.resource.resource} has no name or no resourceVersion`)
  const outbox = workForRestored(storedAs(scope), object)
  return {
    key: keyOf(scope, name, namespace),
    revision,
    value: { ...newValueOf(scope.storageType, object, scope.strategy), outbox },
  }
}
