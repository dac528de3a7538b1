import type { UserInfo } from '../../request/user-info.ts'
import type { WriteOptions } from '../../request/options.ts'
import type { Admission } from './admission.ts'

/** Who writes, beside the requests of clients: each of its calls has an audit id of its own. */
export interface Actor {
  readonly user: UserInfo
  /** Owner of the fields that it writes. */
  readonly fieldManager: string
  /** What has a say in its writes. */
  readonly admission: Admission
}

/** What kube-apiserver writes itself beside a client's write: addresses, the usage in quotas. */
export const BY_SERVER: WriteOptions = { dryRun: false, fieldManager: 'kube-apiserver', fieldValidation: 'Ignore' }
