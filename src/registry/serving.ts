/**
 * How kube-apiserver serves a resource, as far as that is known without a call. kube-apiserver has two servers:
 * apiserver's installer serves built-in resources (built-in-serving.ts), apiextensions' handler serves custom ones
 * (custom-resources/custom-serving.ts). `Resource` (resource.ts) has the facts that need a call.
 */
import type { RequestInfo } from '../request/request-info.ts'
import type { ResourceEntry } from './resources.ts'

export const verbs = ['create', 'get', 'list', 'watch', 'update', 'patch', 'delete', 'deletecollection'] as const
export type Verb = (typeof verbs)[number]

export interface Serving {
  /**
   * The verb of a method at a path of the resource. It is '' for OPTIONS, which only a proxy answers. Undefined: the
   * resource has no such path.
   * @throws StatusError 400, 404, 405
   */
  verbAt(entry: ResourceEntry, info: RequestInfo, method: string): Verb | '' | undefined
  /** Aggregated discovery names group and version of a kind even where they are those of the list. */
  readonly namesOwnVersion: boolean
  /** The informers of admission plug-ins in kube-apiserver keep its objects without managedFields. */
  readonly informedWithoutManagedFields: boolean
  /**
   * Whether OpenAPI makes its models, and the document of its version, from a schema of its own
   * (`ResourceEntry.openApi`). Otherwise the models are built-in types. All resources of a version are alike in this.
   */
  readonly publishesSchema: boolean
  /** @param cbor the feature gate CBORServingAndStorage is on */
  operations(cbor: boolean): OperationDialect
}

/** Parts of OpenAPI documents that all operations of such resources share. */
export interface OperationDialect {
  /** Media types of an answer. */
  readonly json: readonly string[]
  readonly watch: readonly string[]
  readonly patches: readonly string[]
  /** Of request bodies of create, replace and delete. */
  readonly bodies: readonly string[]
  /** Paths below /watch/, and lists that say that they watch. */
  readonly watches: boolean
  /** Query parameters of a read. */
  readonly getOptions: readonly string[]
  /** DELETE of a collection has a body, and its members as parameters. */
  readonly hasCollectionDeleteOptions: boolean
  readonly patchCodes: readonly (200 | 201)[]
  /** Subresources whose kind is one of options (PodExecOptions) are connections. */
  readonly connects: boolean
  /** The kind that the operations of a subresource name. */
  readonly subresourceKind: 'its own' | 'of the resource'
}

export const verbOf = ({ verb }: RequestInfo): Verb | '' => verbs.find((known) => known === verb) ?? ''
