/** The data that policies need about one request. Each part is looked up once, on its first use. */
import type { ParamKind, ParamRef } from '../../api/admissionregistration/v1.ts'
import type { GroupVersionKind } from '../../api/group-version.ts'
import { apiVersionOf } from '../../api/group-version.ts'
import { lazy } from '../../base/lazy.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { notFound } from '../../api/status.ts'
import type { ResourceEntry } from '../../registry/served/resources.ts'
import { servedResources } from '../../registry/served/served.ts'
import { namespaceOf } from '../../tenancy/namespaces.ts'
import type { Attributes } from '../attributes.ts'
import type { ResourceKind } from '../equivalent-resources.ts'
import { equivalentResources } from '../equivalent-resources.ts'
import type { Param } from './params.ts'
import { paramResource, paramsOf } from './params.ts'
import { inKind, seenBy } from './versioned-object.ts'

/** The objects of a request in one version. */
export interface VersionedObjects {
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
}

export class PolicyRequest {
  private readonly params = new Map<string, Promise<readonly Param[]>>()
  private readonly paramResources = new Map<string, Promise<ResourceEntry>>()

  constructor(readonly attributes: Attributes) {}

  readonly equivalents = lazy(() => equivalentResources(this.attributes))

  async entryOf({ resource }: ResourceKind): Promise<ResourceEntry | undefined> {
    const served = await servedResources(this.attributes.request)
    return served.find(resource.group, resource.version, resource.resource)
  }

  /** @throws StatusError where an object cannot be converted */
  async versioned(matched: ResourceKind): Promise<VersionedObjects> {
    return this.versionedAs(matched, await this.entryOf(matched))
  }

  /** @param entry of the resource. @throws StatusError where an object cannot be converted */
  async versionedAs({ kind }: ResourceKind, entry: ResourceEntry | undefined): Promise<VersionedObjects> {
    const { object, oldObject, request } = this.attributes
    const shown = (one: KubeObject | undefined) =>
      one === undefined || entry === undefined ? one : inKind(request, entry, kind, one)
    return { object: await shown(object), oldObject: await shown(oldObject) }
  }

  /** The object and old object for expressions. @throws StatusError where an object cannot be converted */
  async seen(matched: ResourceKind): Promise<VersionedObjects> {
    const { object, oldObject } = await this.versioned(matched)
    const { request } = this.attributes
    return {
      object: object && (await seenBy(request, object)),
      oldObject: oldObject && (await seenBy(request, oldObject)),
    }
  }

  /** @throws ConfigurationError */
  paramResource(kind: ParamKind): Promise<ResourceEntry> {
    const key = `${kind.apiVersion}, ${kind.kind}`
    return once(this.paramResources, key, () => paramResource(this.attributes.request, kind))
  }

  /** @throws ConfigurationError */
  paramsOf(entry: ResourceEntry | undefined, ref: ParamRef | undefined): Promise<readonly Param[]> {
    const { request, namespace } = this.attributes
    const key = entry === undefined ? '' : JSON.stringify([apiVersionOf(entry), entry.resource, ref])
    return once(this.params, key, () => paramsOf(request, entry, ref, namespace))
  }

  /**
   * namespaceObject for expressions; undefined for requests without a namespace, and for a Namespace itself.
   * @throws StatusError 404
   */
  readonly namespaceObject = lazy(async () => {
    const { namespace, kind, request } = this.attributes
    if (namespace === '' || isNamespace(kind)) return undefined
    const found = await namespaceOf(request, namespace)
    if (found === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace)
    const { kind: _, apiVersion: _version, metadata: all, ...rest } = found
    const { ownerReferences: _owners, managedFields: _managed, ...metadata } = all
    // an API object is JSON
    return { metadata, ...rest } as unknown as JsonObject
  })
}

const isNamespace = ({ group, version, kind }: GroupVersionKind): boolean =>
  group === '' && version === 'v1' && kind === 'Namespace'

/** Returns the value of a key, and makes it on the first call. */
export function once<Value>(
  known: Map<string, Promise<Value>>,
  key: string,
  make: () => Promise<Value>,
): Promise<Value> {
  let value = known.get(key)
  if (value === undefined) known.set(key, (value = make()))
  return value
}
