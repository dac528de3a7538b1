/** `/version`: the version of the Kubernetes API. */
import type { JsonObject } from '../../api/object.ts'

/** The Kubernetes release whose behaviour this server has. */
export const RELEASE = { major: '1', minor: '36', gitVersion: 'v1.36.3' } as const

/** Clients read major, minor and gitVersion. The other fields describe the build. */
export const versionInfo = (): JsonObject => ({
  major: RELEASE.major,
  minor: RELEASE.minor,
  emulationMajor: RELEASE.major,
  emulationMinor: RELEASE.minor,
  minCompatibilityMajor: RELEASE.major,
  minCompatibilityMinor: '35',
  gitVersion: RELEASE.gitVersion,
  gitCommit: '0000000000000000000000000000000000000000',
  gitTreeState: 'clean',
  buildDate: '2026-07-01T00:00:00Z',
  goVersion: 'go1.26.8',
  compiler: 'gc',
  platform: 'linux/amd64',
})
