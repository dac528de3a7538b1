import type { Job } from '../../../api/batch/v1.ts'
import type { GroupVersionKind } from '../../../api/group-version.ts'
import { typedResource } from '../../client/clientset.ts'

export const JOBS = typedResource<Job>('batch', 'jobs')
export const JOB: GroupVersionKind = { group: 'batch', version: 'v1', kind: 'Job' }
export const JOB_COMPONENT = 'job-controller'
/** The value of managedBy for this controller. */
export const OURS = 'kubernetes.io/job-controller'
