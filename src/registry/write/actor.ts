import type { UserInfo } from '../../request/user-info.ts'
import type { WriteOptions } from '../../request/options.ts'
import type { Admission } from './admission.ts'

/** A part of the server that writes without a client's request. Each of its calls has its own audit id. */
export interface Actor {
  readonly user: UserInfo
  /** The field manager of its writes. */
  readonly fieldManager: string
  /** The admission that its writes pass. */
  readonly admission: Admission
}

/** For the server's own writes within a client's write: addresses of Services, the usage in quotas. */
export const BY_SERVER: WriteOptions = { dryRun: false, fieldManager: 'kube-apiserver', fieldValidation: 'Ignore' }
