/** Room for the long documents of servers behind APIServices. A slow one keeps only its control plane's waiting. */
import { FewAtOnce } from '../../base/few-at-once.ts'
import { perTenant } from '../../tenancy/tenant-state.ts'

export const documentRoomOf = perTenant('is of requests under way', () => new FewAtOnce())
