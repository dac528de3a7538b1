/** Characters of a selection that a watch has with one place. One selection may have sixteen thousand. */
const WITH_A_PLACE = 2_800

/** How many places a watch takes by the length of what is kept as long as it is open. */
export const placesOf = (characters: number): number => 1 + Math.floor(characters / WITH_A_PLACE)
