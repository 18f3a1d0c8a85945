import { defineOperator, type Operator } from "setpoint";

const operator: Operator = defineOperator({
  name: "db",
  controllers: [],
  relatedImages: [{ name: "db-7", image: "registry.example.com/db:7" }],
});

export default operator;
