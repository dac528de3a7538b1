// Generated from the facts by `npm run generate`. Do not edit.

export interface Info {
  major?: string
  minor?: string
  emulationMajor?: string
  emulationMinor?: string
  minCompatibilityMajor?: string
  minCompatibilityMinor?: string
  gitVersion?: string
  gitCommit?: string
  gitTreeState?: string
  buildDate?: string
  goVersion?: string
  compiler?: string
  platform?: string
}
