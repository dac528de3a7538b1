import type { GroupVersionKind, GroupVersionResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import type { UserInfo } from '../request/user-info.ts'
import type { ApiCall } from '../request/context.ts'
import type { FinalObject } from '../registry/stored-form.ts'
import type { Undo } from '../registry/write/undo.ts'
import type { Reinvocation } from './reinvocation.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** What plugins know of a request (apiserver's pkg/admission Attributes). Mutating plugins change `object` in place. */
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
  /** The text of `object`, where nothing changes it any more. */
  readonly final?: FinalObject | undefined
  readonly options: Readonly<Record<string, unknown>>
  readonly dryRun: boolean
  readonly user: UserInfo
  readonly request: ApiCall
  /** Present in mutating admission only. */
  readonly reinvocation?: Reinvocation
}

/** A built-in plugin. It refuses a request by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string
  handles(attributes: Attributes): boolean
  /** Begins reads (readOnce) that `admit` is sure to need, before any plugin runs. */
  reads?(attributes: Attributes): readonly Promise<unknown>[]
  admit?(attributes: Attributes): void | Promise<void>
  validate?(attributes: Attributes): void | Promise<Undo | undefined | void>
}
