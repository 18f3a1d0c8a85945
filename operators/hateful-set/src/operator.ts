/** The operator as its process runs it. */
import { hatefulSetOperator } from "./hateful-set-operator.ts";

export default hatefulSetOperator();
