import type { UserInfo } from '../../request/user-info.ts'
import type { Admission } from './admission.ts'

/** Who writes, beside the requests of clients: each of its calls has an audit id of its own. */
export interface Actor {
  readonly user: UserInfo
  /** Owner of the fields that it writes. */
  readonly fieldManager: string
  /** What has a say in its writes. */
  readonly admission: Admission
}
