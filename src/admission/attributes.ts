import type { GroupVersionKind, GroupVersionResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import type { UserInfo } from '../request/user-info.ts'
import type { ApiCall } from '../request/context.ts'
import type { Undo } from '../registry/write/undo.ts'
import type { Reinvocation } from './reinvocation.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** What admission is asked about (apiserver's pkg/admission Attributes). Mutating plugins change `object` in place. */
export interface Attributes {
  readonly operation: Operation
  readonly resource: GroupVersionResource
  readonly subresource: string
  readonly kind: GroupVersionKind
  readonly namespace: string
  readonly name: string
  /** Absent for DELETE. */
  readonly object?: KubeObject
  /** Absent for CREATE. */
  readonly oldObject?: KubeObject
  readonly options: Readonly<Record<string, unknown>>
  readonly dryRun: boolean
  readonly user: UserInfo
  readonly request: ApiCall
  /** Of mutating admission. */
  readonly reinvocation?: Reinvocation
}

/** A built-in plugin. Refusals are thrown as StatusError. */
export interface AdmissionPlugin {
  readonly name: string
  handles(attributes: Attributes): boolean
  /** Begins to read (readOnce) what `admit` is sure to need, before any plugin runs. */
  reads?(attributes: Attributes): readonly Promise<unknown>[]
  admit?(attributes: Attributes): void | Promise<void>
  validate?(attributes: Attributes): void | Promise<Undo | undefined | void>
}
