import type { KubeObject } from '../../api/object.ts'
import type { ResourceScope } from '../resource-scope.ts'
import type { FinalObject } from '../stored-form.ts'
import type { Undo } from './undo.ts'

export type WriteOperation = 'CREATE' | 'UPDATE' | 'DELETE'

/** Objects in the storage version, or views if the subresource is a view. */
export interface AdmittedObjects {
  /** Absent: the write removes the object. */
  readonly object?: KubeObject | undefined
  /** Absent: the write creates the object. */
  readonly oldObject?: KubeObject | undefined
  /** The text of `object`, if no later step changes it. */
  readonly final?: FinalObject | undefined
  /**
   * Of a create, the name that the client gave it; '' where the server generates one. Plug-ins may have changed it
   * since. Absent: that of `object`.
   */
  readonly named?: string | undefined
}

/** The admission of a write. A higher layer passes it in: admission/write-admission.ts is Kubernetes' admission. */
export interface Admission {
  /** May change `object` in place. @throws StatusError */
  mutate(
    scope: ResourceScope,
    operation: WriteOperation,
    options: { readonly dryRun: boolean },
    objects: AdmittedObjects,
  ): Promise<void>
  /** Runs after the last change of the object. @throws StatusError */
  validate(
    scope: ResourceScope,
    operation: WriteOperation,
    options: { readonly dryRun: boolean },
    objects: AdmittedObjects,
  ): Promise<Undo | undefined>
}

/** For writes that the server makes for itself: no plug-in may change or refuse them. */
export const withoutAdmission: Admission = { mutate: async () => {}, validate: async () => undefined }
