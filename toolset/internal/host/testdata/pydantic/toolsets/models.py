"""Tools as people write them who have pydantic."""

from typing import Annotated, List, Optional

from pydantic import BaseModel, Field

from agent.tools.toolset import AgentToolset


class Item(BaseModel):
    """One item."""

    title: str = Field(..., description="its title")
    count: int = Field(default=1, ge=1)


class Order(BaseModel):
    customer: str
    items: List[Item]
    note: Optional[str] = None


class Tree(BaseModel):
    name: str
    children: List["Tree"] = []


class Models(AgentToolset):
    async def field(
        self,
        skill_name: Annotated[Optional[str], Field(description="Skill name, or None for all skills")] = None,
        limit: Annotated[int, Field(description="how many", ge=1, le=100)] = 10,
        tag: str = Field(default="x", description="a tag", max_length=3),
        must: int = Field(..., description="has to be there"),
    ) -> str:
        """List."""
        return f"{skill_name} {limit} {tag} {must}"

    def order(self, order: Order) -> dict:
        """Order items."""
        assert isinstance(order, Order) and all(isinstance(i, Item) for i in order.items)
        return self._create_success_response(result=order, message=f"{len(order.items)} items")

    def orders(self, orders: List[Order], first: Optional[Item] = None) -> list:
        assert all(isinstance(o, Order) for o in orders)
        return [len(orders), type(first).__name__]

    def tree(self, tree: Tree) -> str:
        return tree.children[0].name

    def returned(self) -> list:
        return [Item(title="a")]
