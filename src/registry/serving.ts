/**
 * How kube-apiserver serves a resource, as far as no call is needed to know it. It has two servers: apiserver's
 * installer serves built-in resources (built-in-serving.ts), apiextensions' handler serves custom ones
 * (custom-resources/custom-serving.ts). What only a call can know is in `Resource` (resource.ts).
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
   * Its models in OpenAPI are made of a schema of its own (`ResourceEntry.openApi`), and its version has a document
   * made of such. Else they are built-in types. A version has resources of one sort.
   */
  readonly publishesSchema: boolean
  /** @param cbor the feature gate CBORServingAndStorage is on */
  operations(cbor: boolean): OperationDialect
}

/** What OpenAPI documents of the operations of such resources have in common. */
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
  /** Subresources whose kind is one of options are connections. */
  readonly connects: boolean
  /** Whose kind the operations of a subresource name. */
  readonly subresourceKind: 'its own' | 'of the resource'
}

export const verbOf = ({ verb }: RequestInfo): Verb | '' => verbs.find((known) => known === verb) ?? ''
