// The product from its sources, whatever was built before.
import { main } from '../packages/proctor/src/cli/main.ts';

main(process.argv.slice(2));
