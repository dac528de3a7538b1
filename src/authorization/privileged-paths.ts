/**
 * Paths of this server only, which show or replace everything, or wake every object. They are for members of
 * system:masters. No rule on nonResourceURLs grants them, not even `*`, which scrapers of metrics often have.
 */
import type { UserInfo } from '../request/user-info.ts'
import { SYSTEM_MASTERS } from '../request/user-info.ts'

export const privilegedPaths = ['/backup', '/debug/shards', '/restore'] as const
export type PrivilegedPath = (typeof privilegedPaths)[number]

export const isPrivilegedPath = (path: string): path is PrivilegedPath =>
  privilegedPaths.some((known) => known === path)

/**
 * Checks again before a privileged path is served; authorization has refused everybody else.
 * @throws Error
 */
export function assertPrivileged({ groups, name }: UserInfo): void {
  if (!groups.includes(SYSTEM_MASTERS)) throw new Error(`assertion failed: ${name} reached a privileged path`)
}
