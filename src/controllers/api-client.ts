/** How controllers read and write the API: the same store as requests, without HTTP, as a user of their own. */
import { cloneJson } from '../api/clone-json.ts'
import type { GroupResource } from '../api/group-version.ts'
import type { JsonObject, KubeObject } from '../api/object.ts'
import type { UserInfo } from '../request/user-info.ts'
import { SYSTEM_MASTERS } from '../request/user-info.ts'
import { resourceScope } from '../registry/scope.ts'
import type { ResourceScope } from '../registry/resource-scope.ts'
import { linesOf } from '../storage/lines.ts'
import { trackFields } from '../registry/track-fields.ts'
import { serverSideApply } from '../patch/apply.ts'
import type { Deleted } from '../registry/deletion.ts'
import { deleteObject } from '../registry/deletion.ts'
import { liveOf } from '../codec/stored-object.ts'
import type { ResourceEntry, ServedResources } from '../registry/resources.ts'
import { createObject, guaranteedUpdate, readLive } from '../registry/store.ts'
import { withoutAdmission } from '../registry/write/admission.ts'
import type { DeleteOptions } from '../request/options.ts'
import type { Selection } from '../storage/selection.ts'
import { everything } from '../storage/selection.ts'
import { controllerCall } from './controller-call.ts'
import type { ControllerContext } from './controller.ts'

const MANAGER = 'kube-controller-manager'
const MANAGER_USER: UserInfo = {
  name: 'system:kube-controller-manager',
  uid: '',
  groups: [SYSTEM_MASTERS],
  extra: {},
}

/** What a controller may do with one resource in one namespace ('' for cluster-scoped ones). */
export class ApiClient {
  private readonly scope: ResourceScope

  /**
   * @param resource its name, or the entry where it need not be served
   * @param manager who owns what is written
   */
  constructor(
    context: ControllerContext,
    resource: GroupResource | ResourceEntry,
    namespace: string,
    subresource = '',
    private readonly manager = MANAGER,
  ) {
    const entry = 'storage' in resource ? resource : servedEntry(context, resource)
    this.scope = resourceScope(controllerCall(context, MANAGER_USER), entry, { name: '', subresource, namespace })
  }

  /** Undefined where the resource is not served, not even by a definition of this moment. */
  static async ifServed(
    context: ControllerContext,
    resource: GroupResource,
    namespace: string,
  ): Promise<ApiClient | undefined> {
    const entry = entryIn(context.served, resource) ?? entryIn(await context.freshServed(), resource)
    return entry && new ApiClient(context, entry, namespace)
  }

  async get(name: string): Promise<KubeObject | undefined> {
    return (await readLive(this.scope, name))?.object
  }

  /** Everything in the namespace, or everywhere for a cluster-scoped resource. */
  async list(selection: Selection = everything): Promise<KubeObject[]> {
    const items: KubeObject[] = []
    for await (const object of this.each(selection)) items.push(object)
    return items
  }

  /** The same, one after the other. */
  async *each(selection: Selection = everything): AsyncGenerator<KubeObject> {
    const { storage, collection, namespaced, namespace } = this.scope
    const { values, revision } = await storage.list(collection, {
      ...(namespaced && namespace !== '' ? { namespace } : {}),
      selection,
      at: { kind: 'latest' },
    })
    for await (const text of linesOf(values)) yield this.scope.currentForm(liveOf({ revision, text }).object)
  }

  async create(object: KubeObject): Promise<KubeObject> {
    trackFields(this.scope, undefined, object, this.manager)
    return (await createObject(this.scope, object, { dryRun: false }, async () => {})).object
  }

  /** @param change edits the object in place; runs again when somebody else was faster */
  async update(name: string, change: (object: KubeObject) => void): Promise<KubeObject> {
    const { result } = await guaranteedUpdate(this.scope, name, {
      dryRun: false,
      mayCreate: false,
      transform: async (live) => {
        // never undefined: an absent object was answered with NotFound
        const object = cloneJson(live!)
        change(object)
        trackFields(this.scope, live, object, this.manager)
        return object
      },
      validating: async () => {},
    })
    return result.object
  }

  /** Server-side apply, taking what others own, to the client's subresource if it has one. The object exists. */
  async apply(config: JsonObject & KubeObject, manager: string): Promise<KubeObject> {
    const { type, kind, request, subresource } = this.scope
    const { result } = await guaranteedUpdate(this.scope, config.metadata.name ?? '', {
      dryRun: false,
      mayCreate: false,
      transform: async (live) =>
        serverSideApply({
          type,
          kind,
          live,
          config,
          manager,
          force: true,
          subresource,
          now: request.now,
          // what is stored has its normal form already, and so has the configuration
          toObject: (merged) => merged as unknown as KubeObject,
        }),
      validating: async () => {},
    })
    return result.object
  }

  delete(name: string, options: DeleteOptions = {}): Promise<Deleted> {
    return deleteObject(this.scope, name, options, withoutAdmission)
  }
}

/**
 * That of the storage version, where several versions share their objects.
 * @param resource as what its objects are kept: a definition may have the names of a built-in type
 */
export function entryIn(served: ServedResources, { group, resource }: GroupResource): ResourceEntry | undefined {
  const entries = served.inGroup(group).filter(({ storage }) => storage.resource === resource)
  return entries.find(({ version, storage }) => version === storage.version) ?? entries[0]
}

function servedEntry({ served }: ControllerContext, resource: GroupResource): ResourceEntry {
  const entry = entryIn(served, resource)
  if (entry === undefined) throw new Error(`${resource.resource}.${resource.group} is not served`)
  return entry
}
