/** In the error of a shard whose schema has steps that this release does not know. */
export const MIGRATED_BY_NEWER = 'was migrated by a newer version'
