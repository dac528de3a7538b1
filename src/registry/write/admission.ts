import type { KubeObject } from '../../api/object.ts'
import type { ResourceScope } from '../resource-scope.ts'
import type { Undo } from './undo.ts'

export type WriteOperation = 'CREATE' | 'UPDATE' | 'DELETE'

/** In the storage version; those of a view, where the subresource is one. */
export interface AdmittedObjects {
  /** Absent: removed. */
  readonly object?: KubeObject | undefined
  /** Absent: created. */
  readonly oldObject?: KubeObject | undefined
}

/** The admission of a write. The layer above hands it in: admission/write-admission.ts is that of Kubernetes. */
export interface Admission {
  /** May change `object` in place. @throws StatusError */
  mutate(
    scope: ResourceScope,
    operation: WriteOperation,
    options: { readonly dryRun: boolean },
    objects: AdmittedObjects,
  ): Promise<void>
  /** Runs when nothing changes the object any more. @throws StatusError */
  validate(
    scope: ResourceScope,
    operation: WriteOperation,
    options: { readonly dryRun: boolean },
    objects: AdmittedObjects,
  ): Promise<Undo | undefined>
}

/** For writes of the server on its own account: no plug-in may change or refuse them. */
export const withoutAdmission: Admission = { mutate: async () => {}, validate: async () => undefined }
